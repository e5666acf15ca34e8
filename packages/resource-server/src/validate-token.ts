import type { Context } from './context.ts'
import { createIntrospect, type IntrospectionOptions } from './introspection.ts'
import { withTimeout } from './json-fetch.ts'
import { createValidateJwt, isJwt, type JwtOptions, type ValidateToken } from './jwt.ts'
import { isRefused, refused } from './refusal.ts'

/** The accepted formats of access tokens. */
export interface Formats {
  /**
   * How JWTs are validated. Default: with the keys that the issuer publishes. `false`: by introspection at the issuer.
   */
  readonly jwt?: JwtOptions | false | undefined
  /** How reference tokens are introspected. Default: they are refused. */
  readonly introspection?: IntrospectionOptions | undefined
}

/**
 * Validates JWTs here and reference tokens at the issuer.
 *
 * @throws TypeError with one sentence for a mistake in the options
 */
export function createValidateToken(formats: Formats, context: Context): ValidateToken {
  const validate = createValidateFormats(formats, context)
  return async (token) => {
    const validated = await validate(token)
    if (isRefused(validated)) return validated
    try {
      const accepted = await withTimeout(Promise.resolve(context.issuers.accept(validated.claims)), context.timeout)
      return accepted ? validated : refused('issuer_not_accepted')
    } catch (error) {
      return refused('issuer_check_unavailable', error)
    }
  }
}

function createValidateFormats({ jwt, introspection }: Formats, context: Context): ValidateToken {
  const local = jwt === false ? undefined : createValidateJwt(jwt ?? {}, context)
  const remote = introspection === undefined ? undefined : createIntrospect(introspection, context)
  if (local === undefined && remote === undefined) throw new TypeError('jwt: false requires introspection')
  if (local === undefined || remote === undefined) return local ?? (remote as ValidateToken)
  // An invalid JWT is not introspected: it could be accepted although it does not meet the options for JWTs.
  return (token) => (isJwt(token) ? local(token) : remote(token))
}
