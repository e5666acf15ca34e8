import { type AdminHost, admin, adminSchema } from '@grantry/administration/api'
import { closestName, configurationObject, isJsonObject, type Plugins } from '@grantry/core'
import { createPages, pagesSchema } from '@grantry/pages'
import { createAccountPages } from '@grantry/pages/account'
import { languages } from '@grantry/pages/languages'
import { authorizationEndpointEntries } from '@grantry/plugins/authorization-endpoint'
import { backChannelLogoutSchema } from '@grantry/plugins/back-channel-logout'
import { clientAssertion, clientAssertionSchema } from '@grantry/plugins/client-assertion'
import { clientMetadata, clientMetadataSchema } from '@grantry/plugins/client-metadata'
import { deviceAuthorization, deviceAuthorizationSchema, deviceSignIn } from '@grantry/plugins/device-authorization'
import { dpop, dpopSchema } from '@grantry/plugins/dpop'
import { fapi2, fapi2Schema } from '@grantry/plugins/fapi2'
import { idJag, idJagSchema } from '@grantry/plugins/id-jag'
import { jwtIntrospection } from '@grantry/plugins/jwt-introspection'
import { mtls, mtlsSchema } from '@grantry/plugins/mtls'
import { pushedAuthorizationSchema } from '@grantry/plugins/pushed-authorization'
import { registration, registrationSchema } from '@grantry/plugins/registration'
import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import { signInEntries } from '@grantry/plugins/sign-in'
import { signInEndpoint } from '@grantry/plugins/sign-in-plugins'
import { providerOf } from '@grantry/plugins/upstream'
import { workloadIdentity, workloadIdentitySchema } from '@grantry/plugins/workload-identity'
import * as v from 'valibot'
import { accountEntries } from './sign-in/account.ts'
import { organizationEntries, organizationsOf, type ReadUserClaims } from './sign-in/organizations.ts'
import { type SelfServiceHost, selfServiceMemberSchema, selfServiceOf } from './sign-in/self-service.ts'
import { upstreamEntries } from './sign-in/upstream.ts'

/** What plugins use of the server. */
export interface PluginHosts {
  /** Returns what the admin API changes. */
  readonly adminHost?: (() => AdminHost) | undefined
  readonly accounts?: Omit<SelfServiceHost, 'adminHost'> | undefined
  /** For the organizations of users, which a claim can name. */
  readonly userClaims?: ReadUserClaims | undefined
}

/** Where an entry stands, and what its plugin can use. */
interface Context extends PluginHosts {
  readonly entries: readonly unknown[]
  readonly at: number
}

const withoutMail: Omit<SelfServiceHost, 'adminHost'> = { issuer: 'http://localhost', mailer: { send: () => {} } }

const noAdminHost = (): AdminHost => {
  throw new TypeError('plugins: the admin API works in the server only')
}

const adminEntry = configurationObject({
  ...adminSchema.entries,
  /** Default with the console: its client only. */
  clients: v.optional(adminSchema.entries.clients),
})

const createAdmin = ({ clients = [], ...options }: v.InferInput<typeof adminEntry>, { adminHost }: Context): Plugins =>
  admin({ ...options, clients, host: adminHost ?? noAdminHost })

const deviceEntry = configurationObject({
  ...deviceAuthorizationSchema.entries,
  /** Default: the page of the plugin `sign-in`. */
  verificationUri: v.optional(deviceAuthorizationSchema.entries.verificationUri),
})
type DeviceEntry = v.InferInput<typeof deviceEntry>

function createDeviceAuthorization({ verificationUri, ...options }: DeviceEntry, { entries, at }: Context): Plugins {
  if (verificationUri !== undefined) return deviceAuthorization({ ...options, verificationUri })
  if (entries.some((entry) => isNamedPlugin(entry) && entry.name === 'sign-in')) return []
  throw new TypeError(`plugins[${at}].verificationUri is required without the plugin sign-in`)
}

/** Returns the options of the device authorization that needs the page of the sign-in. */
const withoutPage = (entries: readonly unknown[]) =>
  entries.find((entry) => isNamedPlugin(entry) && entry.name === 'device-authorization' && !entry.verificationUri) as
    | (DeviceEntry & { readonly name: string })
    | undefined

const signInEntry = configurationObject({
  ...authorizationEndpointEntries,
  ...signInEntries,
  ...upstreamEntries,
  ...accountEntries,
  ...organizationEntries,
  pages: v.optional(pagesSchema, {}),
  accounts: v.optional(selfServiceMemberSchema),
  pushedRequests: v.optional(pushedAuthorizationSchema, {}),
  backChannelLogout: v.optional(backChannelLogoutSchema, {}),
})

/** Creates the authorization endpoint with the pages of a sign-in. */
function createSignIn(
  { pages: look, providers, account, accounts: members, organizations, ...options }: v.InferInput<typeof signInEntry>,
  { entries, adminHost = noAdminHost, accounts, userClaims }: Context,
): Plugins {
  const appearance = { ...look, languages }
  const pages = createPages(appearance)
  const { name: _, verificationUri, ...device } = withoutPage(entries) ?? {}
  return signInEndpoint({
    ...options,
    pages,
    organizations: organizationsOf(organizations, userClaims),
    providers: providers?.map(providerOf),
    account: account && { ...account, pages: createAccountPages(appearance) },
    accounts: members && selfServiceOf(members, appearance, { ...(accounts ?? withoutMail), adminHost }),
    features: withoutPage(entries) === undefined ? [] : [deviceSignIn({ ...device, pages })],
  })
}

type OptionsSchema = v.GenericSchema<object> & { readonly entries: v.ObjectEntries }

const named = <const S extends OptionsSchema>(
  schema: S,
  create: (options: v.InferInput<S>, context: Context) => Plugins,
  complete: v.InferInput<S> | undefined,
) => [schema, create, complete] as const

const url = 'https://id.example.com'

/**
 * The plugins that an entry of `plugins` can name, each with the schema of its options, what creates it, and options with which
 * it adds all that clients can use: grant types, authentication methods and members. `undefined`: nothing of its own.
 */
const namedPlugins = {
  admin: named(adminEntry, createAdmin, undefined),
  'client-assertion': named(clientAssertionSchema, clientAssertion, {}),
  // Its members are those of sign-in, for clients that describe themselves. The same is true of registration.
  'client-metadata': named(clientMetadataSchema, clientMetadata, undefined),
  'device-authorization': named(deviceEntry, createDeviceAuthorization, { verificationUri: url }),
  dpop: named(dpopSchema, dpop, {}),
  fapi2: named(fapi2Schema, fapi2, {}),
  'id-jag': named(idJagSchema, idJag, {
    accept: { issuers: [{ issuer: url, jwksUri: url }] },
    issue: { servers: [{ issuer: url, resources: [url], clients: [{ clientId: 'agent', scopes: ['chat'] }] }] },
  }),
  'jwt-introspection': named(configurationObject({}), jwtIntrospection, undefined),
  mtls: named(mtlsSchema, mtls, {}),
  registration: named(registrationSchema, registration, undefined),
  'resource-indicators': named(configurationObject({}), resourceIndicators, undefined),
  'sign-in': named(signInEntry, createSignIn, { account: {} }),
  'workload-identity': named(workloadIdentitySchema, workloadIdentity, {
    issuers: [{ platform: 'github' }, { platform: 'spiffe', issuer: 'spiffe://example.com', jwksUri: url }],
  }),
} as const

type Table = typeof namedPlugins
type Name = keyof Table
const names = Object.keys(namedPlugins) as readonly Name[]

/** An entry of `plugins` that names a plugin, with its options. */
export type NamedPlugin = { [N in Name]: { name: N } & v.InferInput<Table[N][0]> }[Name]

/** The entries of `plugins` that name a plugin, with its options. */
export const namedPluginSchemas = Object.fromEntries(
  names.map((name) => [name, configurationObject({ name: v.literal(name), ...namedPlugins[name][0].entries })]),
) as unknown as Readonly<Record<Name, v.GenericSchema<object>>>

/** Plugins that are useless without a function, by the name of their export. */
const withFunctions: Readonly<Record<string, string>> = {
  'jwt-bearer': 'jwtBearer',
  'token-exchange': 'tokenExchange',
}
const alwaysActive: readonly string[] = [
  'authorization-code',
  'client-credentials',
  'password',
  'proof-key',
  'refresh-token',
]

function unknownName(name: string): string {
  if (Object.hasOwn(withFunctions, name)) {
    return `${name} needs a function; in a module configuration, call ${withFunctions[name]}() of @grantry/plugins/${name}`
  }
  if (alwaysActive.includes(name)) return `${name} is always active; remove this entry`
  const closest = closestName(name, names)
  return `must be one of ${names.join(', ')}${closest === undefined ? '' : `; did you mean ${closest}?`}`
}

const unknown = v.looseObject(
  {
    name: v.custom<string>(
      () => false,
      ({ input }) => unknownName(String(input)),
    ),
  },
  `is required: one of ${names.join(', ')}`,
)

/** Whether an entry names a plugin. A plugin and its parts have a `kind`; in a module configuration, lists can nest. */
export const isNamedPlugin = (value: unknown): value is NamedPlugin => isJsonObject(value) && !('kind' in value)

/** Chosen by the name of the plugin. The errors of a union would not name the path. */
export function namedPluginSchema({ name }: NamedPlugin): v.GenericSchema<object> {
  return Object.hasOwn(namedPluginSchemas, name) ? namedPluginSchemas[name] : unknown
}

/** Whether a plugin can be named in the configuration. */
export const isPluginName = (name: string): boolean => names.some((known) => known === name)

/**
 * Creates the plugin that a validated entry names.
 *
 * @param entries all entries: the sign-in has a page for devices if a device authorization has none
 * @param hosts what plugins use of the server; for a provider that serves requests
 */
export function createNamedPlugin(plugin: NamedPlugin, entries: readonly unknown[], hosts: PluginHosts = {}): Plugins {
  const { name, ...options } = plugin
  // The schema of the name has checked them.
  const create = namedPlugins[name][1] as (options: object, context: Context) => Plugins
  return create(options, { ...hosts, entries, at: entries.indexOf(plugin) })
}

/** Returns the plugins that add something that clients can use, with all that they can add. */
export function completePlugins(): readonly { readonly name: NamedPlugin['name']; readonly plugins: Plugins }[] {
  const entries = names.flatMap((name) => {
    const options = namedPlugins[name][2]
    return options === undefined ? [] : [{ name, ...options } as NamedPlugin]
  })
  return entries.map((entry) => ({ name: entry.name, plugins: createNamedPlugin(entry, entries) }))
}
