import type { ClientAuthentication } from '../plugin/client-authentication.ts'
import type { Callers } from '../plugin/endpoint.ts'
import { byClaim, type OwnedPart } from './collect.ts'

/** Parameters that the core reads itself. */
const coreParameters = ['grant_type', 'scope', 'client_id']

const methodForm = /^[a-z][a-z\d_]{0,99}$/u

function assertMethod({ plugin, part }: OwnedPart<ClientAuthentication>): void {
  const { method, consumes, present, verify, accepts } = part
  if (typeof method !== 'string' || !methodForm.test(method)) {
    throw new TypeError(`plugins: ${plugin} has an authentication method with the invalid name "${String(method)}"`)
  }
  const name = `the authentication method ${method} of ${plugin}`
  if (typeof present !== 'function' || !Array.isArray(consumes)) {
    throw new TypeError(`plugins: ${name} requires present() and consumes, an array of form fields`)
  }
  const taken = consumes.find((field) => coreParameters.includes(field))
  if (taken !== undefined) throw new TypeError(`plugins: ${name} cannot consume ${taken}, because the core reads it`)
  const proof: readonly unknown[] = [verify, accepts]
  if (new Set(proof.map((member) => typeof member)).size > 1) {
    throw new TypeError(`plugins: ${name} requires either both verify() and accepts(), or neither`)
  }
}

/** @throws TypeError when a method is malformed, or two plugins provide the same one. */
export function assertMethods(methods: readonly OwnedPart<ClientAuthentication>[]): void {
  for (const method of methods) assertMethod(method)
  byClaim(methods, 'the authentication method', ({ method }) => method)
}

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
