export type { BotFunction } from '../bot-function.ts'
export { botOf } from './bot-module.ts'
export { type Guest, type GuestOptions, type GuestResult, runGuest } from './guest.ts'
