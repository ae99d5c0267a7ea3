import { basename, join, posix } from 'node:path'
import type { BundleManifest } from '../../builders/native/bundle.ts'

/** What follows `botcli` to run a bundle: the bot, and the options that CMD of the container build file has for it. */
export function bundleCommand(folder: string, manifest: BundleManifest): readonly string[] {
  const words = wordsOf(manifest, join(folder, manifest.entry))
  const { python } = manifest
  if (python === null || words.some((word) => /^--python(?:=|$)/.test(word))) return ['run', ...words]
  return ['run', ...words, '--python', join(folder, python.path)]
}

function wordsOf({ command, workdir, entry }: BundleManifest, bot: string): readonly string[] {
  const [program = '', verb, ...words] = command
  if (basename(program) !== 'botcli' || verb !== 'run') return [bot]
  const at = words.findIndex((word) => posix.join(workdir, word) === entry)
  if (at !== -1) return words.map((word, index) => (index === at ? bot : word))
  // Without a bot, or with a folder that it is in.
  return words[0] === undefined || words[0].startsWith('-') ? [bot, ...words] : words
}
