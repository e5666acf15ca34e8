import * as v from 'valibot'
import { configurationObject } from '../config-schema.ts'
import type { Optional } from '../types.ts'
import { clientEntries } from './client-members.ts'
import { secretNames } from './secret.ts'

/** Returns what is wrong with a client, and the member that is at fault. */
type ClientCheck = (client: Client) => { readonly member: string; readonly problem: string } | undefined

/** Names of other servers for members, in lower case. */
const otherNames: Readonly<Record<string, string>> = {
  pkce: 'requirePkce',
  requirespkce: 'requirePkce',
  proofkey: 'requirePkce',
  plainpkce: 'allowPlainPkce',
  allowplaintextpkce: 'allowPlainPkce',
  id: 'clientId',
  name: 'clientName',
  logo: 'logoUri',
  grants: 'grantTypes',
  allowedgranttypes: 'grantTypes',
  scope: 'scopes',
  allowedscopes: 'scopes',
  callbackurls: 'redirectUris',
  callbacks: 'redirectUris',
  logouturls: 'postLogoutRedirectUris',
  allowedorigins: 'allowedCorsOrigins',
  weborigins: 'allowedCorsOrigins',
  publicclient: 'public',
  requireconsentscreen: 'requireConsent',
}

/** The suggestions that name a member of this schema: many belong to plugins. */
const suggestionsFor = (known: v.ObjectEntries): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(otherNames).flatMap(([name, member]) =>
      Object.hasOwn(known, member) ? [[name, `${member}?`]] : [],
    ),
  )

/** Returns the schema of a client's configuration with the members and checks that plugins add. */
export const clientSchemaWith = (more: v.ObjectEntries, checks: readonly ClientCheck[] = []) =>
  v.pipe(
    configurationObject({ ...clientEntries, ...more } as typeof clientEntries, {
      suggestions: { ...suggestionsFor({ ...clientEntries, ...more }), ...secretNames },
      shape: ["an object such as { clientId: 'web' }"],
    }),
    v.forward(
      v.check(
        ({ public: isPublic, secrets }) => !isPublic || (secrets.stored.length === 0 && secrets.malformed === 0),
        'must be empty for a public client, which cannot keep a secret',
      ),
      ['secrets'],
    ),
    v.forward(
      v.check(
        ({ public: isPublic, refreshToken }) => !isPublic || refreshToken.usage === 'rotate',
        'must be "rotate" for a public client',
      ),
      ['refreshToken', 'usage'],
    ),
    v.forward(
      v.check(
        ({ refreshToken: { usage, gracePeriod } }) => usage === 'rotate' || gracePeriod === 0,
        'must be 0 for a client that reuses its refresh token, which is never spent',
      ),
      ['refreshToken', 'gracePeriod'],
    ),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      const { secrets: _, ...client } = dataset.value
      for (const check of checks) {
        const { member: key, problem: message } = check(client) ?? {}
        if (key === undefined) continue
        const value: unknown = client[key as 'clientId']
        addIssue({ message, path: [{ type: 'object', origin: 'value', input: { ...client }, key, value }] })
      }
    }),
    v.readonly(),
  )

/**
 * The schema of a client's configuration, without members of plugins. Lifetimes are in seconds.
 *
 * @see wire contract, sections 2 and 3; `clients` in the server's configuration
 */
export const clientSchema = clientSchemaWith({})

/**
 * The members that plugins add to a client. A plugin declares them by declaration merging, as optional unless they have
 * a default: `declare module '@grantry/core' { interface ClientMembers { ... } }`. Every plugin can read them.
 */
// biome-ignore lint/suspicious/noEmptyInterface: plugins add members by declaration merging.
export interface ClientMembers {}

/** The configuration of a client. Only `clientId` is required. */
export interface ClientOptions extends v.InferInput<typeof clientSchema>, Optional<ClientMembers> {}

/** A client with all defaults applied, as the schema returns it. */
export type ClientWithSecrets = v.InferOutput<typeof clientSchema> & Readonly<ClientMembers>

/**
 * A client with all defaults applied, without its secrets. Only the client authentication can access those, so neither
 * a plugin nor a function of the host can log them.
 */
export type Client = Omit<ClientWithSecrets, 'secrets'>
