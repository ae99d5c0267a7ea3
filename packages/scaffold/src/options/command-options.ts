/** An option that says what the command does, and not what the project is. */
export interface CommandOption {
  readonly key: 'config' | 'dryRun' | 'listOptions' | 'force' | 'overwriteGuide' | 'json'
  /** Without the dashes. */
  readonly flag: string
  readonly short?: string
  /** What stands for the value in the help; a switch has none. */
  readonly argument?: string
  readonly help: string
}

/** Every such option, in the order of the help. */
export const COMMAND_OPTIONS: readonly CommandOption[] = [
  {
    key: 'config',
    flag: 'config',
    short: 'c',
    argument: 'FILE',
    help: 'Take the options from a JSON file. Options on the command line win over it.',
  },
  {
    key: 'dryRun',
    flag: 'dry-run',
    help: 'Print the resolved configuration as JSON, which --config takes, and write nothing.',
  },
  {
    key: 'listOptions',
    flag: 'list-options',
    help: 'Print every bot type, transport and service as JSON.',
  },
  {
    key: 'force',
    flag: 'force',
    help: 'Overwrite files that are in the way. Guide files are kept.',
  },
  {
    key: 'overwriteGuide',
    flag: 'overwrite-guide',
    help: 'Overwrite AGENTS.md, ASSISTANT.md and GETTING_STARTED.md.',
  },
  { key: 'json', flag: 'json', help: 'Print what happened, or what is wrong, as JSON.' },
]
