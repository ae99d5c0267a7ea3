import { join } from 'node:path'
import { build } from 'esbuild'
import { freshFolder } from './folders.ts'

/** How many files the program writes. */
export const FILE_COUNT = 60

/** A program that writes a project and says when it begins. */
export async function writerProgram(): Promise<string> {
  const outfile = join(await freshFolder(), 'writer.mjs')
  await build({
    stdin: {
      contents: `
        import { compare } from '../disk/compare.ts'
        import { openFolder } from '../disk/project.ts'
        import { write } from '../disk/write.ts'
        const files = Array.from({ length: ${FILE_COUNT} }, (_, n) => ({ path: \`\${n % 2 ? 'server' : 'old'}/\${n}\`, content: 'ours' }))
        const folder = await openFolder(process.argv[2])
        const comparison = await compare(folder, files, { force: true, replaceGuides: new Set() })
        process.stdout.write('go')
        await write(comparison)
      `,
      resolveDir: import.meta.dirname,
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'silent',
  })
  return outfile
}
