import * as v from 'valibot'
import { configurationObject } from '../config-schema.ts'
import { type Defined, oneOf, partKind, required } from './part-kind.ts'

/**
 * Code of the core that not every provider needs, such as `passwords` and `authorizations`. It is in a program only if a
 * plugin names it: in `requires` of a grant, in `parts`, or in the option `plugins`. The kits of all plugins, and the
 * provider, then have its functions.
 */
export interface Capability extends Defined<'capability'> {
  readonly name: 'passwords' | 'authorizations' | 'sealing' | 'assertions'
  /** Only the core calls it. */
  readonly open: (services: never) => object
}

const schemas = () => ({ name: oneOf('passwords', 'authorizations', 'sealing', 'assertions'), open: required() })

export const capabilityKind = /* @__PURE__ */ partKind<Capability>('capability', {
  title: 'capability',
  name: 'name',
  schemas,
  collect: (parts) => parts,
})

/** The schema of the capabilities that a grant requires. */
export const requirements = () =>
  v.array(
    configurationObject(
      { kind: v.literal('capability'), '~kind': v.optional(v.any()), ...schemas() },
      { noun: 'member', shape: ['a capability', 'import it from @grantry/core, such as passwords'] },
    ),
    'must be an array of capabilities, such as [passwords]',
  )

/** Returns what replaces a function of a capability that no plugin names. It throws a TypeError. */
export const missing = (caller: string, name: Capability['name']) => async (): Promise<never> => {
  throw new TypeError(
    `${caller}(): no plugin has the capability ${name} of @grantry/core; add it to your plugin, or to the option plugins`,
  )
}
