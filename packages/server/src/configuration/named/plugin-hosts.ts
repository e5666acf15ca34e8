import type { AdminHost } from '@grantry/administration/api'
import { isJsonObject, type Plugins } from '@grantry/core'
import type * as v from 'valibot'
import type { ReadUserClaims } from '../sign-in/organizations.ts'
import type { SelfServiceHost } from '../sign-in/self-service.ts'

/** The functions of the server that plugins use. */
export interface PluginHosts {
  /** Returns what the admin API changes. */
  readonly adminHost?: (() => AdminHost) | undefined
  readonly accounts?: Omit<SelfServiceHost, 'adminHost'> | undefined
  /** For the organizations of users, which a claim can name. */
  readonly userClaims?: ReadUserClaims | undefined
}

/** The place of an entry in `plugins`, and the functions that its plugin can use. */
export interface Context extends PluginHosts {
  readonly entries: readonly unknown[]
  readonly at: number
}

type OptionsSchema = v.GenericSchema<object> & { readonly entries: v.ObjectEntries }

/**
 * Returns a plugin that the configuration can name.
 *
 * @param complete options with which it adds all that clients can use: grant types, authentication methods and members.
 * `undefined`: nothing of its own
 */
export const named = <const S extends OptionsSchema>(
  schema: S,
  create: (options: v.InferInput<S>, context: Context) => Plugins,
  complete: v.InferInput<S> | undefined,
) => ({ schema, create, complete })

export const url = 'https://id.example.com'

export const noAdminHost = (): AdminHost => {
  throw new TypeError('plugins: the admin API works in the server only')
}

/** Whether an entry names a plugin. A plugin and its parts have a `kind`; in a module configuration, lists can nest. */
export const isNamedEntry = (value: unknown): value is { readonly name: string } =>
  isJsonObject(value) && !('kind' in value)
