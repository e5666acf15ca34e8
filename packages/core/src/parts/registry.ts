import { allSteps, assertNone } from '../config-problems.ts'
import { closestName } from '../config-schema.ts'
import type { clientSchema } from '../directory/client.ts'
import type { scopeSchema } from '../directory/scope.ts'
import type { PluginErrors } from '../errors/error-response.ts'
import { reasonOfPlugin } from '../errors/oauth-error.ts'
import type { JsonObject } from '../types.ts'
import { type Capability, capabilityKind } from './capability.ts'
import {
  assertMethods,
  type ClientAuthentication,
  type CredentialParameters,
  credentialParametersOf,
  hiddenParametersOf,
  methodKind,
} from './client-authentication.ts'
import { type ClientSource, clientSourceKind } from './client-source.ts'
import type { Endpoint } from './endpoint.ts'
import { assertEndpoint, endpointKind } from './endpoint-check.ts'
import type { StartupWarning } from './fields.ts'
import { directorySchemasFrom, fieldsKind, fieldsOf } from './fields-check.ts'
import { grantCheckKind } from './grant-check.ts'
import { grantKind, grantsOf, type RegisteredGrants } from './grant-registry.ts'
import { type HostFunctions, hostFunctionsKind } from './host-functions.ts'
import { byClaim, type PartKind } from './part-kind.ts'
import { type OwnedPart, type PluginPart, type Plugins, partsOf } from './plugin.ts'
import { metadataOf } from './plugin-metadata.ts'
import { formatKind, type ResponseFormat } from './response-format.ts'
import { type Task, taskKind } from './task.ts'
import { bindingKind, type TokenBindings, tokenBindingsOf } from './token-binding.ts'

/** How each kind of part is checked. */
export const partKinds: Readonly<Record<PluginPart['kind'], PartKind>> = {
  grant: grantKind,
  'grant-check': grantCheckKind,
  'client-authentication': methodKind,
  endpoint: endpointKind,
  'response-format': formatKind,
  'token-binding': bindingKind,
  'client-source': clientSourceKind,
  task: taskKind,
  fields: fieldsKind,
  'host-functions': hostFunctionsKind,
  capability: capabilityKind,
}

const pluginName = /^[a-z][a-z\d-]{0,49}$/u

/** @throws TypeError */
function assertPluginName(name: unknown, hint = ''): void {
  if (typeof name === 'string' && pluginName.test(name)) return
  throw new TypeError(
    `plugins: "${String(name)}" is not a valid name of a plugin; use lower-case letters, digits and hyphens${hint}`,
  )
}

const members = ['kind', 'name', 'parts']

/** Returns a suggestion for the misspelled member of a plugin. */
function suggestion(plugin: object): string {
  const absent = members.filter((member) => !(member in plugin))
  for (const name of Object.keys(plugin)) {
    const closest = members.includes(name) ? undefined : closestName(name, absent)
    if (closest !== undefined) return `; it has ${name}, did you mean ${closest}?`
  }
  return ''
}

const kindNames = ['plugin', ...Object.keys(partKinds)]

const isPart = (value: unknown): value is PluginPart =>
  typeof value === 'object' && value !== null && 'kind' in value && Object.hasOwn(partKinds, String(value.kind))

/** Returns a suggestion for what is neither a plugin nor a part. */
function kindHint(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (!('kind' in value)) return suggestion(value) || undefined
  const closest = closestName(String(value.kind), kindNames)
  return closest === undefined ? undefined : `; did you mean the kind ${closest}?`
}

/**
 * Flattens the option `plugins` to parts, each with the name of its plugin.
 *
 * @throws TypeError when an entry is not a plugin, a part is malformed, or two plugins have the same name.
 */
export function collectParts(plugins: Plugins): readonly OwnedPart[] {
  const byName = new Map<string, readonly PluginPart[]>()

  function add(name: string, parts: readonly PluginPart[]): void {
    if (byName.has(name))
      throw new TypeError(`plugins: two plugins have the name ${name}; remove or rename one of them`)
    byName.set(name, parts)
  }

  function addAll(entry: Plugins): void {
    if (!entry) return
    if (Array.isArray(entry)) {
      for (const plugin of entry) addAll(plugin)
      return
    }
    const single = entry as Exclude<typeof entry, readonly Plugins[]>
    if (single.kind === 'grant') {
      add(typeof single.grantType === 'string' ? single.grantType : '', [single])
    } else if (single.kind === 'plugin') {
      const { name, parts } = single
      assertPluginName(name, suggestion(single))
      if (!Array.isArray(parts) || parts.length === 0) {
        throw new TypeError(`plugins: ${name} has no parts${suggestion(single)}`)
      }
      if (!parts.every(isPart)) {
        const hint = kindHint(parts.find((part) => !isPart(part))) ?? ''
        throw new TypeError(`plugins: ${name} has an entry in parts that is not a part of a plugin${hint}`)
      }
      add(name, parts)
    } else if (single.kind === 'capability') {
      add(single.name, [single])
    } else if (isPart(single)) {
      throw new TypeError('plugins: a part other than a grant needs a name; use definePlugin(name, [part])')
    } else {
      const hint = kindHint(single) ?? '; did you forget to call its factory, as in password()?'
      throw new TypeError(`plugins: an entry is not a plugin${hint}`)
    }
  }

  addAll(plugins)
  const all = [...byName].flatMap(([plugin, parts]) => parts.map((part) => ({ plugin, part })))
  allSteps(all.map((owned) => () => partKinds[owned.part.kind].assert(owned)))
  return all
}

/**
 * Returns the schemas of clients and scopes, with the members that these plugins add.
 *
 * @throws TypeError when two plugins define the same member, or one replaces a member of the core.
 */
export const directorySchemasOf = (plugins: Plugins) => directorySchemasFrom(partsOf(collectParts(plugins), 'fields'))

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
  /** What plugins offer to the host, by the name of the key. */
  readonly hostFunctions: ReadonlyMap<string, OwnedPart<HostFunctions>>
  /** What plugins need of the core beyond the minimum, by name. */
  readonly capabilities: ReadonlyMap<Capability['name'], Capability>
  /** Other forms of the responses of endpoints. */
  readonly formats: readonly OwnedPart<ResponseFormat>[]
  readonly bindings: TokenBindings
  /** What the plugins add to the discovery document. */
  readonly metadata: JsonObject
  /** What plugins warn about at startup. */
  readonly warnings: readonly StartupWarning[]
}

/** Returns the capabilities that plugins name. Those with the same name are equal: a program can contain a module twice. */
function capabilitiesOf(parts: readonly OwnedPart[]): Registry['capabilities'] {
  const required = partsOf(parts, 'grant').flatMap(({ part }) => part.requires ?? [])
  const listed = partsOf(parts, 'capability').map(({ part }) => part)
  return new Map([...required, ...listed].map((capability) => [capability.name, capability]))
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
    hostFunctions: byClaim(partsOf(parts, 'host-functions'), 'the host functions', ({ key }) => key.name),
    capabilities: capabilitiesOf(parts),
    formats: partsOf(parts, 'response-format'),
    bindings: tokenBindingsOf(partsOf(parts, 'token-binding')),
    metadata: metadataOf(fields, endpoints),
    warnings: fields.flatMap(({ plugin, part }) =>
      (part.warn?.([...grants.grants.keys()]) ?? []).map(({ reason, message }) => ({
        reason: reasonOfPlugin(plugin, reason),
        message,
      })),
    ),
  }
}
