import type { BuildRecord, BuildStatus, FailureCode } from '@botcli/protocol/cloud'

/** How a build is, for people: one that was cancelled has not failed. */
export type ShownStatus = BuildStatus | 'cancelled'

/** How a build is. */
export function shownStatus({ status, failure }: Pick<BuildRecord, 'status' | 'failure'>): ShownStatus {
  return status === 'failed' && failure?.code === 'cancelled' ? 'cancelled' : status
}

/** What a status is called. */
export const STATUS_WORDS: Readonly<Record<ShownStatus, string>> = {
  pending: 'Waiting',
  building: 'Building',
  success: 'Succeeded',
  failed: 'Failed',
  timeout: 'Timed out',
  cancelled: 'Cancelled',
}

/** The colour of a state: it goes well, it is under way, or something is to be looked at. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'quiet'

/** The colours of builds. */
export const STATUS_TONES: Readonly<Record<ShownStatus, Tone>> = {
  pending: 'quiet',
  building: 'busy',
  success: 'good',
  failed: 'bad',
  timeout: 'warn',
  cancelled: 'quiet',
}

/** What went wrong, in words. */
export const FAILURE_WORDS: Readonly<Record<FailureCode, string>> = {
  dockerfile_missing: 'The container build file is missing',
  dockerfile_syntax: 'The container build file has a syntax error',
  copy_source_missing: 'A file to be copied is missing',
  base_image_missing: 'The base image was not found',
  install_failed: 'Installing packages failed',
  dependency_missing: 'A dependency is missing',
  command_failed: 'A command failed',
  out_of_memory: 'The build ran out of memory',
  out_of_disk: 'The build ran out of disk space',
  cancelled: 'The build was cancelled',
  builder_lost: 'The builder was lost',
  builder_failed: 'The builder failed',
}

/** Whether a build is over. */
export function isOver(status: BuildStatus): boolean {
  return status !== 'pending' && status !== 'building'
}

const SIZES = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const

/** A number of bytes for people. */
export function sizeWords(bytes: number): string {
  // As the commands count: a KB is 1024 bytes.
  const power = Math.min(SIZES.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  const value = bytes / 1024 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${SIZES[power]}`
}

/** A number of seconds for people. */
export function durationWords(seconds: number): string {
  const whole = Math.round(seconds)
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}

/** How long ago something was. */
export function agoWords(iso: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(iso)) / 1000))
  if (seconds < 5) return 'just now'
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  const days = Math.floor(seconds / 86_400)
  return days < 30 ? `${days} ${days === 1 ? 'day' : 'days'} ago` : iso.slice(0, 10)
}

/** A count with its noun. */
export function countWords(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}
