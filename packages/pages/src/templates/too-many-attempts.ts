import type { Tools } from '../tools.ts'

/** @param seconds until the next attempt. One is not named, because the texts have the plural. */
export const tooManyAttempts = (seconds: number | undefined, { text }: Tools): string =>
  seconds === undefined || seconds < 2
    ? text('tooManyAttempts')
    : text('tooManyAttemptsFor', { seconds: String(seconds) })
