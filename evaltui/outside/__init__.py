"""Code and programs of the user: functions that are called and commands that are run, never trusted to end."""
