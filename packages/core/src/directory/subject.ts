import * as v from 'valibot'
import type { Subject } from './user-service.ts'

/** A subject with the defaults applied. */
export interface CompleteSubject {
  readonly sub: string
  readonly amr: readonly string[]
  readonly authTime: number
  readonly idp: string
  readonly acr?: string
}

const text = (longest: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(longest))

/** OpenID Connect Core section 2: `sub` has at most 255 characters. */
export const subjectSchema = v.strictObject({
  sub: text(255),
  amr: v.pipe(v.array(text(100)), v.minLength(1)),
  authTime: v.exactOptional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
  idp: v.exactOptional(text(200)),
  acr: v.exactOptional(text(200)),
})

/** The default `idp` of a subject. */
export const localProvider = 'local'

/** Seconds by which `authTime` may be in the future, to allow for clock skew. */
const aheadAtMost = 86_400

/** @throws TypeError when `authTime` is far in the future: probably milliseconds instead of seconds. */
export function completeSubject(subject: Subject, now: number): CompleteSubject {
  if (subject.authTime !== undefined && subject.authTime > now + aheadAtMost) {
    throw new TypeError('authTime must be in epoch seconds, but is in the future; is it in milliseconds?')
  }
  return { idp: localProvider, authTime: now, ...subject }
}
