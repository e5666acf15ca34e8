import type { Tools } from '../tools.ts'

/** @param seconds until the next attempt */
export const tooManyAttempts = (seconds: number | undefined, { text }: Tools): string =>
  seconds === undefined ? text('tooManyAttempts') : text('tooManyAttemptsFor', { seconds: String(seconds) })
