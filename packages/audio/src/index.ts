export * from './pcm.ts'
export * from './resampler.ts'
export * from './sample-queue.ts'
export * from './ticker.ts'
