import type { Capability } from './capability.ts'
import type { ClientAuthentication } from './client-authentication.ts'
import type { ClientSource } from './client-source.ts'
import type { Endpoint } from './endpoint.ts'
import type { ErrorPage } from './error-page.ts'
import type { Fields } from './fields.ts'
import type { Grant } from './grant.ts'
import type { GrantCheck } from './grant-check.ts'
import type { HostFunctions } from './host-functions.ts'
import type { Owned } from './part-kind.ts'
import type { ResponseFormat } from './response-format.ts'
import type { ScopeSource } from './scope-source.ts'
import type { Task } from './task.ts'
import type { TokenBinding } from './token-binding.ts'

/** A part of a plugin. Each kind extends the provider in one place. */
export type PluginPart =
  | Grant
  | GrantCheck
  | Endpoint
  | ErrorPage
  | ClientAuthentication
  | TokenBinding
  | ResponseFormat
  | ClientSource
  | ScopeSource
  | Task
  | Fields
  | HostFunctions
  | Capability

/**
 * An extension of the provider: a name and its parts. The name is a namespace: the parts share the records under it,
 * and no other plugin can access them.
 */
export interface Plugin {
  readonly kind: 'plugin'
  /** Lower-case letters, digits and hyphens; at most 50 characters. Do not rename it: its records would be lost. */
  readonly name: string
  readonly parts: readonly PluginPart[]
}

/**
 * Plugins. A grant alone is a plugin whose name is its grant type, and a capability can stand alone, too. Lists can be nested, and contain falsy values, so
 * that `condition && plugin()` works.
 */
export type Plugins = Plugin | Grant | Capability | readonly Plugins[] | false | null | undefined

/**
 * Defines a plugin.
 *
 * @example
 * export const proofKey = () => definePlugin('proof-key', [metadata, check])
 */
export const definePlugin = (name: string, parts: readonly PluginPart[]): Plugin => ({ kind: 'plugin', name, parts })

/** A part with the name of its plugin. */
export type OwnedPart<P extends PluginPart = PluginPart> = Owned<P>

/** The parts of one kind. */
export type PartOf<K extends PluginPart['kind']> = Extract<PluginPart, { readonly kind: K }>

/** Returns the parts of one kind. */
export const partsOf = <K extends PluginPart['kind']>(
  parts: readonly OwnedPart[],
  kind: K,
): readonly OwnedPart<PartOf<K>>[] =>
  parts.filter(({ part }) => part.kind === kind) as readonly OwnedPart[] as readonly OwnedPart<PartOf<K>>[]
