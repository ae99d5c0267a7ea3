import type { Configuration } from '../configuration.ts'
import { QUICKSTART } from '../resolve/quickstart.ts'
import { fieldValue } from './fields.ts'
import type { ScaffoldOption } from './option.ts'
import { SCAFFOLD_OPTIONS } from './table.ts'
import { TRANSPORT_KINDS } from './transports.ts'

/** The shortest options that give a configuration in a folder of this name. */
export function optionsFor(configuration: Configuration, directoryName: string): readonly string[] {
  return SCAFFOLD_OPTIONS.flatMap((option) => {
    const value = fieldValue(configuration, option.key)
    if (value === null || goesWithoutSaying(configuration, option, directoryName)) return []
    if (typeof value === 'boolean') return [value ? `--${option.flag}` : `--no-${option.flag}`]
    const texts = typeof value === 'string' ? [value] : value
    return texts.flatMap((text) =>
      text.startsWith('-') ? [`--${option.flag}=${text}`] : [`--${option.flag}`, text],
    )
  })
}

/** The command that gives a configuration, to paste into a shell. */
export function commandFor(configuration: Configuration, directory: string, directoryName: string): string {
  const words = ['botcli', 'init', targetArgument(directory), ...optionsFor(configuration, directoryName)]
  return words.map(quoteForShell).join(' ')
}

/** A folder as the target of `botcli init`, taken neither for an option nor for the ready-made bot. */
export function targetArgument(directory: string): string {
  return directory.startsWith('-') || directory === QUICKSTART ? `./${directory}` : directory
}

/** A word as a shell takes it, whatever is in it. */
export function quoteForShell(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** Whether the value is what would hold without the option. */
function goesWithoutSaying(
  configuration: Configuration,
  { key, on }: ScaffoldOption,
  directoryName: string,
): boolean {
  if (key === 'name') return configuration.names.title === directoryName
  if (key === 'botType') {
    const telephony = configuration.transports.some((id) => TRANSPORT_KINDS[id].telephony)
    return (configuration.botType === 'telephony') === telephony
  }
  if (key === 'clientFramework') return configuration.clientFramework === 'none'
  if (key === 'clientServer') return configuration.clientServer === 'vite'
  if (key === 'videoOutput' && configuration.video !== undefined) return true
  return on !== undefined && configuration[key as 'recording'] === on
}
