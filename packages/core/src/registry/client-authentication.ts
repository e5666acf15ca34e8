import * as v from 'valibot'
import { functionSchema } from '../config-schema.ts'
import type { ClientAuthentication } from '../plugin/client-authentication.ts'
import type { Callers } from '../plugin/endpoint.ts'
import { byClaim, type OwnedPart } from './owned.ts'
import { mark, partKind, required, text } from './part-kind.ts'

/** Parameters that the core reads itself. */
const coreParameters = ['grant_type', 'scope', 'client_id']

export const methodKind = partKind<ClientAuthentication>(
  'authentication method',
  {
    method: text(/^[a-z][a-z\d_]{0,99}$/u, 'must be lower-case letters, digits and _, as in private_key_jwt'),
    consumes: v.array(
      v.pipe(
        v.string('must be the name of a form field'),
        v.check((field) => !coreParameters.includes(field), 'is a parameter that the core reads; remove it'),
      ),
      'must be an array of form fields',
    ),
    readsAuthorization: mark,
    implicit: mark,
    unguessable: mark,
    present: required,
    alternative: functionSchema(),
    accepts: functionSchema(),
    verify: functionSchema(),
  },
  'method',
  ({ accepts, verify, ...more }) => {
    if ((accepts === undefined) !== (verify === undefined)) return 'requires both verify() and accepts(), or neither'
    return 'unguessable' in more && more.unguessable && verify === undefined && 'can be unguessable only with verify()'
  },
)

/** @throws TypeError when two plugins provide the same method. */
export const assertMethods = (methods: readonly OwnedPart<ClientAuthentication>[]): unknown =>
  byClaim(methods, 'the authentication method', ({ method }) => method)

/** The parameters that contain the credentials of each kind of caller. */
export type CredentialParameters = Readonly<Record<keyof Callers, readonly string[]>>

/** Returns the parameters that endpoints cannot declare and do not receive. */
export function credentialParametersOf(methods: readonly OwnedPart<ClientAuthentication>[]): CredentialParameters {
  const fields = ['client_id', ...methods.flatMap(({ part }) => part.consumes)]
  return { client: fields, scope: fields, token: ['access_token'], anyone: [] }
}

/**
 * Returns the form fields that grants and checks cannot declare and do not receive, with the plugin that reads each:
 * `core`, or the plugin of an authentication method.
 */
export const hiddenParametersOf = (methods: readonly OwnedPart<ClientAuthentication>[]): ReadonlyMap<string, string> =>
  new Map([
    ...methods.flatMap(({ plugin, part }) => part.consumes.map((field) => [field, plugin] as const)),
    ...coreParameters.map((field) => [field, 'core'] as const),
  ])
