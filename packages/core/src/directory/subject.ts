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

const text = (maxLength: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(maxLength))

/** OpenID Connect Core section 2: `sub` has at most 255 characters. */
export const subjectSchema = v.strictObject({
  sub: text(255),
  amr: v.pipe(v.array(text(100)), v.minLength(1)),
  authTime: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
  idp: v.optional(text(200)),
  acr: v.optional(text(200)),
})

/** The subjects that `checkSubject` has returned. They are frozen, so they still match the schema. */
const checked = new WeakSet<object>()

/** Validates a subject. Its members cannot be changed afterwards. */
export function checkSubject(input: unknown): v.SafeParseResult<typeof subjectSchema> {
  const parsed = v.safeParse(subjectSchema, input)
  if (parsed.success) {
    Object.freeze(parsed.output.amr)
    checked.add(Object.freeze(parsed.output))
  }
  return parsed
}

const asItIs = v.custom<v.InferOutput<typeof subjectSchema>>(() => true)

/** For a subject that a caller may have from `checkSubject`, such as a grant from `authenticateUser`: it is not validated again. */
export const uncheckedSubjectSchema = v.lazy((input) =>
  typeof input === 'object' && input !== null && checked.has(input) ? asItIs : subjectSchema,
)

/** The default `idp` of a subject. */
export const localProvider = 'local'

/** Seconds by which `authTime` may be in the future, to allow for clock skew. */
const maxAhead = 86_400

/** @throws TypeError when `authTime` is far in the future: probably milliseconds instead of seconds. */
export function completeSubject(subject: Subject, now: number): CompleteSubject {
  if (subject.authTime !== undefined && subject.authTime > now + maxAhead) {
    throw new TypeError('authTime must be in epoch seconds, but is in the future; is it in milliseconds?')
  }
  const { sub, amr, authTime = now, idp = localProvider, acr } = subject
  return { idp, authTime, sub, amr, ...(acr !== undefined && { acr }) }
}
