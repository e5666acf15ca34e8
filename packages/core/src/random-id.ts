import type { Runtime } from './runtime.ts'

/** Random bytes as base64url. It never begins with a dash, because a command would read such an id as an option. */
export const randomId = (runtime: Pick<Runtime, 'base64url' | 'randomBytes'>, bytes: number): string =>
  runtime.base64url(runtime.randomBytes(bytes)).replace(/^-/u, '0')
