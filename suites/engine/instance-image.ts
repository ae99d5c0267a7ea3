import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import type { Builder } from '../../packages/cloud/src/builders/builder.ts'
import { Workbench } from '../../packages/cloud/src/testing/workbench.ts'
import { BASE, writeBaseContext } from '../builders/base-image.ts'

const STAND_IN = join(import.meta.dirname, '../../packages/cloud/src/testing/runner-stand-in.ts')

/** What the bot of the image does is given by a variable, so that one image is enough. */
const BOT =
  "if (process.env.CODE) await import('data:text/javascript,' + encodeURIComponent(process.env.CODE))\n"

/** Makes an image of an agent: a stand-in for the runner, as CMD of a user of its own. Gives its name. */
export async function makeInstanceImage(builder: Builder): Promise<string> {
  const base = await Workbench.open({})
  await writeBaseContext(join(base.folder, 'context'))
  const made = await base.build(builder, { changes: { imageName: BASE } })
  if (!made.ok) throw new Error(base.log.text)
  await base.close()
  const bench = await Workbench.open({
    Dockerfile: `FROM ${BASE}\nCOPY app /app\nUSER 1234\nCMD ["node", "/app/runner.mjs", "run", "/app/bot.mjs"]\n`,
    'app/bot.mjs': BOT,
  })
  const outfile = join(bench.folder, 'context/app/runner.mjs')
  await mkdir(join(bench.folder, 'context/app'), { recursive: true })
  buildSync({
    entryPoints: [STAND_IN],
    ...{ bundle: true, platform: 'node', format: 'esm', target: 'node20', outfile },
  })
  await writeFile(join(bench.folder, 'context/app/bot.mjs'), BOT)
  const image = await bench.build(builder)
  if (!image.ok) throw new Error(bench.log.text)
  await bench.close()
  return image.imageUri
}
