import { assertNone } from '../config-problems.ts'
import type { clientSchema } from '../directory/client.ts'
import type { scopeSchema } from '../directory/scope.ts'
import type { PluginErrors } from '../errors/error-response.ts'
import type { ClientAuthentication } from '../plugin/client-authentication.ts'
import type { ClientSource } from '../plugin/client-source.ts'
import type { Endpoint } from '../plugin/endpoint.ts'
import type { StartupWarning } from '../plugin/fields.ts'
import type { Plugins } from '../plugin/plugin.ts'
import type { ResponseFormat } from '../plugin/response-format.ts'
import type { Task } from '../plugin/task.ts'
import type { JsonObject } from '../types.ts'
import {
  assertMethods,
  type CredentialParameters,
  credentialParametersOf,
  hiddenParametersOf,
} from './client-authentication.ts'
import { collectParts } from './collect.ts'
import { assertEndpoint } from './endpoints.ts'
import { fieldsOf } from './fields.ts'
import { grantsOf, type RegisteredGrants } from './grants.ts'
import { metadataOf } from './metadata.ts'
import { type OwnedPart, partsOf } from './owned.ts'
import { type TokenBindings, tokenBindingsOf } from './token-bindings.ts'

/** The parts of the plugins of a provider. */
export interface Registry extends RegisteredGrants {
  /** The methods of client authentication, those of the core first. */
  readonly authenticationMethods: readonly OwnedPart<ClientAuthentication>[]
  /** The schemas of clients and scopes, with the members that plugins add. */
  readonly clientSchema: typeof clientSchema
  readonly scopeSchema: typeof scopeSchema
  readonly pluginErrors: PluginErrors
  /** The parameters that contain the credentials of each kind of caller. Endpoints do not receive them. */
  readonly credentialParameters: CredentialParameters
  readonly endpoints: readonly OwnedPart<Endpoint>[]
  /** Clients that plugins keep. */
  readonly clientSources: readonly OwnedPart<ClientSource>[]
  /** Work that no request waits for. */
  readonly tasks: readonly OwnedPart<Task>[]
  /** Other forms of the responses of endpoints. */
  readonly formats: readonly OwnedPart<ResponseFormat>[]
  readonly bindings: TokenBindings
  /** What the plugins add to the discovery document. */
  readonly metadata: JsonObject
  /** What plugins warn about at startup. */
  readonly warnings: readonly StartupWarning[]
}

/** @throws TypeError when a part is malformed, two plugins provide the same one, or one cannot work with the issuer. */
export function createRegistry(plugins: Plugins, issuer: string): Registry {
  const parts = collectParts(plugins)
  const fields = partsOf(parts, 'fields')
  const authenticationMethods = partsOf(parts, 'client-authentication')
  assertMethods(authenticationMethods)
  const grants = grantsOf(
    partsOf(parts, 'grant'),
    partsOf(parts, 'grant-check'),
    hiddenParametersOf(authenticationMethods),
  )
  const endpoints = partsOf(parts, 'endpoint')
  const credentialParameters = credentialParametersOf(authenticationMethods)
  for (const endpoint of endpoints) assertEndpoint(endpoint, credentialParameters)
  assertNone(
    fields.flatMap(({ plugin, part }) => {
      const problem = part.checkIssuer?.(issuer)
      return problem === undefined ? [] : [`plugins: ${plugin}: ${problem}`]
    }),
  )
  return {
    ...grants,
    authenticationMethods,
    ...fieldsOf(fields),
    credentialParameters,
    endpoints,
    clientSources: partsOf(parts, 'client-source'),
    tasks: partsOf(parts, 'task'),
    formats: partsOf(parts, 'response-format'),
    bindings: tokenBindingsOf(partsOf(parts, 'token-binding')),
    metadata: metadataOf(fields, endpoints),
    warnings: fields.flatMap(({ part }) => part.warn?.([...grants.grants.keys()]) ?? []),
  }
}
