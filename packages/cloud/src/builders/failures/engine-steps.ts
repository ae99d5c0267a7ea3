import type { CheckedDockerfile } from '../dockerfile/check.ts'
import { stageNamed } from '../dockerfile/stages.ts'
import type { Step } from '../dockerfile/step.ts'

const MAKING = new Set(['RUN', 'COPY', 'ADD', 'WORKDIR'])

/** The step that was begun last, by the lines that an engine writes of it. */
export function lastStep(lines: readonly string[], file: CheckedDockerfile): Step | undefined {
  const failing = lines
    .map((line) => /^#(\d+) ERROR: /.exec(line)?.[1])
    .findLast((number) => number !== undefined)
  if (failing !== undefined) return buildkitStep(lines, file, failing)
  for (const line of lines.toReversed()) {
    // buildah and podman count in each stage, from its FROM on.
    const inStage = /^(?:\[(\d+)\/\d+\] )?STEP (\d+)\/\d+: /.exec(line)
    if (inStage !== null) {
      const stage = file.stages[Number(inStage[1] ?? 1) - 1]
      const at = Number(inStage[2])
      return at === 1 ? stage?.from : stage?.steps[at - 2]
    }
    // Docker counts through the whole file.
    const inFile = /^Step (\d+)\/\d+ : /.exec(line)
    if (inFile !== null) return file.steps[Number(inFile[1]) - 1]
  }
  return undefined
}

/** Builds of BuildKit run side by side, so its errors name their step. It counts only steps that make something. */
function buildkitStep(lines: readonly string[], file: CheckedDockerfile, number: string): Step | undefined {
  for (const line of lines) {
    const found = /^#(\d+) \[(\S+) +(\d+)\/\d+\] /.exec(line)
    if (found?.[1] === number) {
      const name = found[2] ?? ''
      const index = /^stage-(\d+)$/.exec(name)?.[1]
      const stage = stageNamed(file.stages, name) ?? file.stages[Number(index ?? -1)]
      const at = Number(found[3])
      return at === 1 ? stage?.from : stage?.steps.filter(({ keyword }) => MAKING.has(keyword))[at - 2]
    }
    if (line.startsWith(`#${number} [internal] load metadata for `)) {
      const image = line.slice(line.indexOf(' for ') + ' for '.length)
      return file.stages.find(({ base }) => base !== undefined && image.endsWith(base))?.from
    }
  }
  return undefined
}
