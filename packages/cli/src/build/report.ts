import { type BuildRecord, isFinal } from '@botcli/protocol/cloud'
import { EXIT } from '../exit-codes.ts'
import { COLOURS, type Paint } from '../paint.ts'
import { shownSeconds, shownTime } from '../remote/table.ts'
import { size } from './context/size.ts'

/** The exit code that a build comes to. */
export function exitCodeOf({ status }: Pick<BuildRecord, 'status'>): number {
  return status === 'success' ? EXIT.ok : EXIT.failed
}

/** What became of a build, for people: a line, and what there is to know about it. */
export function outcomeLines(build: BuildRecord, paint: Paint): readonly string[] {
  const { id, status, failure, errorMessage, buildDurationSeconds: seconds } = build
  const time = seconds === null ? '' : ` after ${shownSeconds(seconds)}`
  if (status === 'success') {
    const image = build.imageSizeBytes === null ? '' : ` (${size(build.imageSizeBytes)})`
    return [
      paint(COLOURS.green, `Build ${id} succeeded${time}.`),
      ...(build.imageUri === null ? [] : [`  image  ${build.imageUri}${image}`]),
    ]
  }
  if (!isFinal(status)) return [`Build ${id} is ${status}.`]
  const word =
    status === 'timeout' ? 'took too long' : failure?.code === 'cancelled' ? 'was cancelled' : 'failed'
  return [
    paint(COLOURS.red, `Build ${id} ${word}${time}${failure === null ? '' : ` [${failure.code}]`}.`),
    ...(errorMessage === null ? [] : [`  why    ${errorMessage}`]),
    ...(failure?.step ? [`  step   ${failure.step}`] : []),
    ...(failure?.line ? [`  where  ${build.dockerfilePath}, line ${failure.line}`] : []),
    ...(failure === null ? [] : [`  hint   ${failure.hint}`]),
  ]
}

/** Everything about a build. */
export function buildLines(build: BuildRecord, paint: Paint): readonly string[] {
  const rows: readonly (readonly [string, string | null])[] = [
    ['id', build.id],
    ['status', paint(colourOf(build), build.status)],
    ['region', build.region],
    ['dockerfile', build.dockerfilePath],
    ['context', `${build.contextHash} (${size(build.contextSizeBytes)})`],
    ['image', build.imageUri],
    ['image size', build.imageSizeBytes === null ? null : size(build.imageSizeBytes)],
    ['created', shownTime(build.createdAt)],
    ['started', build.startedAt && shownTime(build.startedAt)],
    ['completed', build.completedAt && shownTime(build.completedAt)],
    ['took', build.buildDurationSeconds === null ? null : shownSeconds(build.buildDurationSeconds)],
    ['error', build.errorMessage],
    ['failure', build.failure?.code ?? null],
    ['step', build.failure?.step ?? null],
    ['line', build.failure?.line ? String(build.failure.line) : null],
    ['hint', build.failure?.hint ?? null],
  ]
  return rows.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(10)}  ${value}`]))
}

/** The colour of a build's status. */
export function colourOf({ status }: Pick<BuildRecord, 'status'>): number {
  if (status === 'success') return COLOURS.green
  return isFinal(status) ? COLOURS.red : COLOURS.yellow
}
