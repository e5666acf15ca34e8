import { clientTexts } from '../directory/client-members.ts'
import type { MemberTexts } from '../directory/member.ts'
import { scopeTexts } from '../directory/scope.ts'
import type { Capability } from './capability.ts'
import {
  assertMethods,
  type ClientAuthentication,
  type CredentialParameters,
  credentialParametersOf,
  hiddenParametersOf,
} from './client-authentication.ts'
import type { WithClientSources } from './client-source.ts'
import { collectParts } from './collect-parts.ts'
import type { InstalledEndpoint } from './endpoint-kind.ts'
import type { InstalledErrorPage } from './error-page.ts'
import { type AllFields, type DiscoveryMembers, noFields } from './fields.ts'
import { grantsOf, type RegisteredGrants } from './grant-registry.ts'
import { type CreateUsePlugins, noHostFunctions } from './host-functions.ts'
import { kindIn, type PartKind } from './part-kind.ts'
import { type OwnedPart, type PartOf, type PluginPart, type Plugins, partsOf } from './plugin.ts'
import { noFormats, type ResponseFormats } from './response-format.ts'
import type { NamedRule } from './rule.ts'
import type { ScopeSources } from './scope-source.ts'
import { type CreateTasks, noTasks } from './task.ts'
import { noBindings, type TokenBindings } from './token-binding.ts'

/** Returns what the parts of one kind add to the provider, by the kind that defines them. */
function collected<K extends PluginPart['kind'], C>(parts: readonly OwnedPart[], kind: K, none: C): C {
  const all = partsOf(parts, kind)
  const [first] = all
  return first === undefined ? none : (kindIn(first) as PartKind<PartOf<K>, C>).collect(all)
}

const fieldsIn = (parts: readonly OwnedPart[]): AllFields => collected(parts, 'fields', noFields)

/** The schemas of clients and scopes with the members that plugins add, and what administrators read about all members. */
export interface DirectorySchemas extends Pick<AllFields, 'clientSchema' | 'scopeSchema'> {
  readonly clientTexts: MemberTexts
  readonly scopeTexts: MemberTexts
}

/**
 * Returns the schemas of clients and scopes, with the members that these plugins add.
 *
 * @throws TypeError when two plugins define the same member, or one replaces a member of the core.
 */
export function directorySchemasOf(plugins: Plugins): DirectorySchemas {
  const { clientSchema, scopeSchema, memberTexts } = fieldsIn(collectParts(plugins))
  return {
    clientSchema,
    scopeSchema,
    clientTexts: { ...clientTexts, ...memberTexts.client },
    scopeTexts: { ...scopeTexts, ...memberTexts.scope },
  }
}

/** The parts of the plugins of a provider. */
export interface Registry
  extends RegisteredGrants,
    Pick<
      AllFields,
      'clientSchema' | 'scopeSchema' | 'clientMetadata' | 'pluginErrors' | 'pluginScopes' | 'signedTypes'
    > {
  /** The methods of client authentication, those of the core first. */
  readonly authenticationMethods: readonly OwnedPart<ClientAuthentication>[]
  /** The parameters that contain the credentials of each kind of caller. Endpoints do not receive them. */
  readonly credentialParameters: CredentialParameters
  readonly endpoints: readonly InstalledEndpoint[]
  /** The page for paths without an endpoint; `undefined` without one. */
  readonly errorPage: InstalledErrorPage | undefined
  /** Adds the clients that plugins keep; `undefined` if they keep none. */
  readonly withClientSources: WithClientSources | undefined
  /** The scopes that plugins keep; `undefined` if they keep none. */
  readonly scopeSources: ScopeSources | undefined
  /** How the core runs grant checks; `undefined` without any. */
  readonly grantChecks: object | undefined
  /** Work that no request waits for. */
  readonly createTasks: CreateTasks
  /** How the host reaches the functions that plugins offer. */
  readonly createUsePlugins: CreateUsePlugins
  /** What plugins need of the core beyond the minimum, by name. */
  readonly capabilities: ReadonlyMap<Capability['name'], Capability>
  /** Other forms of the responses of endpoints. */
  readonly formats: ResponseFormats
  readonly bindings: TokenBindings
  /** What the plugins add to the discovery document. */
  readonly announced: DiscoveryMembers
  /** What plugins find in the settings. */
  readonly rules: readonly NamedRule[]
}

/** Returns the capabilities that plugins name. Those with the same name are equal: a program can contain a module twice. */
function capabilitiesOf(parts: readonly OwnedPart[]): Registry['capabilities'] {
  const requiring = [...partsOf(parts, 'grant'), ...partsOf(parts, 'endpoint')]
  const required = requiring.flatMap(({ plugin, part: { requires = [] } }) =>
    requires.map((part) => ({ plugin, part })),
  )
  for (const owned of required) kindIn(owned)
  return new Map([...required, ...partsOf(parts, 'capability')].map(({ part }) => [part.name, part]))
}

/** @throws TypeError when a part is malformed, two plugins provide the same one, or one cannot work with the issuer. */
export function createRegistry(plugins: Plugins, issuer: string): Registry {
  const parts = collectParts(plugins)
  const authenticationMethods = partsOf(parts, 'client-authentication')
  assertMethods(authenticationMethods)
  const grants = grantsOf(
    partsOf(parts, 'grant'),
    partsOf(parts, 'grant-check'),
    hiddenParametersOf(authenticationMethods),
  )
  const endpoints = collected<'endpoint', readonly InstalledEndpoint[]>(parts, 'endpoint', [])
  const credentialParameters = credentialParametersOf(authenticationMethods)
  for (const endpoint of endpoints) endpoint.assertParameters(credentialParameters)
  const { clientSchema, scopeSchema, clientMetadata, pluginErrors, pluginScopes, signedTypes, ...fields } =
    fieldsIn(parts)
  fields.assertIssuer(issuer)
  return {
    ...grants,
    authenticationMethods,
    clientSchema,
    scopeSchema,
    clientMetadata,
    pluginErrors,
    pluginScopes,
    signedTypes,
    credentialParameters,
    endpoints,
    errorPage: collected<'error-page', InstalledErrorPage | undefined>(parts, 'error-page', undefined),
    withClientSources: collected<'client-source', WithClientSources | undefined>(parts, 'client-source', undefined),
    scopeSources: collected<'scope-source', ScopeSources | undefined>(parts, 'scope-source', undefined),
    grantChecks: collected<'grant-check', object | undefined>(parts, 'grant-check', undefined),
    createTasks: collected(parts, 'task', noTasks),
    createUsePlugins: collected(parts, 'host-functions', noHostFunctions),
    capabilities: capabilitiesOf(parts),
    formats: collected(parts, 'response-format', noFormats),
    bindings: collected(parts, 'token-binding', noBindings),
    announced: fields.discoveryWith(endpoints),
    rules: fields.rules,
  }
}
