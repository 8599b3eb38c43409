"""The screens: a read-only follower of the database, drawn with Textual."""
