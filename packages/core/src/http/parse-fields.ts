import * as v from 'valibot'
import { OAuthError } from '../errors/oauth-error.ts'
import type { RequestParameters } from './parameters.ts'

/**
 * Validates request parameters.
 *
 * @throws OAuthError `invalid_request` that names the first parameter that is missing or malformed.
 */
export function parseFields<S extends v.GenericSchema>(schema: S, parameters: RequestParameters): v.InferOutput<S> {
  const result = v.safeParse(schema, parameters, { abortEarly: true })
  if (result.success) return result.output
  const [issue] = result.issues
  const name = issue.path?.[0]?.key
  if (typeof name !== 'string') {
    throw new OAuthError('invalid_request', 'The parameters do not fit together', { reason: 'parameters_inconsistent' })
  }
  const missing = parameters[name] === undefined
  throw new OAuthError('invalid_request', `The parameter ${name} is ${missing ? 'required' : 'malformed'}`, {
    reason: missing ? 'parameter_missing' : 'parameter_malformed',
  })
}

/** The schema of a parameter with at most `longest` characters. */
export const field = (longest: number) => v.pipe(v.string(), v.maxLength(longest))
