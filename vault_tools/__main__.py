"""Run the command line as `python -m vault_tools`."""

from vault_tools.cli import main

if __name__ == "__main__":
    main()
