import { clientGaps, type Members, userProblem } from '@grantry/administration'
import type { Finding, Imported } from '@grantry/administration/import'
import {
  configurationProblems,
  directorySchemasOf,
  entryProblem,
  type JsonObject,
  parseConfiguration,
  type ScopeOptions,
} from '@grantry/core'
import { type EntryChecks, refusedByProvider, withEntryChecks } from '../administration/try-provider.ts'
import { completePlugins, loadNamedPlugins } from '../configuration/named-plugins.ts'
import { configurationSchema } from '../configuration/schema.ts'
import { providersOf } from '../doctor/unusable.ts'
import { configurationMessage } from '../error-message.ts'

/** The plugins that an imported client can need, of those that the configuration can name. */
const plugins = ['sign-in', 'client-assertion', 'dpop', 'mtls', 'device-authorization', 'resource-indicators']

/** Grant types of plugins that need a function: the report says that the client needs them. */
const grantsOfFunctions: readonly unknown[] = [
  'urn:ietf:params:oauth:grant-type:jwt-bearer',
  'urn:ietf:params:oauth:grant-type:token-exchange',
]

/** Returns the members that a client can lose, because they are only shown to users. */
function optionalMembers(): readonly string[] {
  const { clientTexts } = directorySchemasOf(completePlugins().map((complete) => complete.plugins))
  return ['clientName', ...Object.keys(clientTexts).filter((name) => clientTexts[name]?.group === 'pages')]
}

/** Members that a client can lose before it is left out. */
const maxLost = 8

/** A secret for the check of a client that gets a new one: no secret has this hash. */
const newSecret = { sha256: `${'A'.repeat(43)}=` }

const needsSecret = ({ public: isPublic, secrets, tokenEndpointAuthMethod, jwks, jwksUri }: Members): boolean =>
  isPublic !== true &&
  secrets === undefined &&
  tokenEndpointAuthMethod === undefined &&
  jwks === undefined &&
  jwksUri === undefined

type Refusal = { readonly problem: string; readonly member: string | undefined }

const messageOf = (cause: unknown): string => configurationMessage(configurationProblems(cause)[0] ?? cause)

function refusalOfClient(client: Members, names: readonly string[], { checkClient }: EntryChecks): Refusal | undefined {
  const grants = Array.isArray(client.grantTypes) ? client.grantTypes : []
  const checked = {
    ...client,
    ...(needsSecret(client) && { secrets: [newSecret] }),
    grantTypes: grants.filter((grant) => !grantsOfFunctions.includes(grant)),
  }
  try {
    checkClient(checked as never, names)
    return undefined
  } catch (cause) {
    const { refusal } = refusedByProvider(cause, { path: 'clients[0]', called: 'it' })
    return {
      problem: messageOf(cause).replace(/^clients(?:\[0\])?(?: \("[^"]*"\))?[:.]? ?/u, ''),
      member: refusal.member?.split(/[.[]/u)[0],
    }
  }
}

/** Returns a client that the server accepts: without a member that no request needs, or disabled; `undefined` if there is none. */
function usableClient(
  client: Members,
  names: readonly string[],
  checks: EntryChecks,
  optional: readonly string[],
  add: (finding: Omit<Finding, 'entry'>) => void,
): Members | undefined {
  let usable = client
  for (let lost = 0; lost <= maxLost; lost += 1) {
    const refusal = refusalOfClient(usable, names, checks)
    if (refusal === undefined) return usable
    const { problem, member = '' } = refusal
    if (optional.includes(member)) {
      add({ member, what: `was left out: ${problem}`, outcome: 'lost', consequence: 'cosmetic' })
      usable = Object.fromEntries(Object.entries(usable).filter(([name]) => name !== member))
    } else if (
      usable.enabled !== false &&
      refusalOfClient({ ...usable, enabled: false }, names, checks) === undefined
    ) {
      add({ what: `is disabled: ${problem}`, outcome: 'changed', consequence: 'sign-in' })
      return { ...usable, enabled: false }
    } else {
      add({ what: `was left out: ${problem}`, outcome: 'lost', consequence: 'sign-in' })
      return undefined
    }
  }
  return undefined
}

/** Returns the plugins that provide the members of a client. */
function pluginsOf(client: Members, providers: ReturnType<typeof providersOf>): ReadonlySet<string> {
  return new Set(Object.keys(client).flatMap((member) => providers.get(member)?.[0] ?? []))
}

/** Returns the message of a check that refuses a value; `undefined` if it accepts the value. */
function problemIn(check: () => void): string | undefined {
  try {
    check()
    return undefined
  } catch (cause) {
    return messageOf(cause)
  }
}

/**
 * Returns the imported entries without those that `grantry apply` would refuse, because one of them would make it
 * refuse the file. A client that only lacks a member is disabled.
 */
export async function withUsableEntries({ scopes, clients, users, findings }: Imported): Promise<Imported> {
  await loadNamedPlugins()
  const configuration = parseConfiguration(
    configurationSchema,
    {
      issuer: 'https://issuer.example',
      storage: { driver: 'memory' },
      clients: [],
      scopes: [],
      users: [],
      plugins: plugins.map((name) => ({ name })),
    },
    '',
  )
  const more: Finding[] = []
  const optional = optionalMembers()
  const providers = providersOf()
  const lost = (entry: string, problem: string): readonly Members[] => {
    more.push({ entry, what: `was left out: ${problem}`, outcome: 'lost', consequence: 'sign-in' })
    return []
  }
  return withEntryChecks({ configuration, directory: process.cwd() }, [], (checks) => {
    const usableScopes = scopes.flatMap((scope) => {
      const problem =
        problemIn(() => checks.checkScope(scope as unknown as ScopeOptions)) ??
        entryProblem(String(scope.name), scope as JsonObject)
      return problem === undefined ? [scope] : lost(`scope ${scope.name}`, problem)
    })
    const names = new Set(usableScopes.map(({ name }) => name))
    const lostScopes = new Set(scopes.map(({ name }) => name).filter((name) => !names.has(name)))
    const usableClients = clients.flatMap((client): readonly Members[] => {
      const entry = `client ${client.clientId}`
      const narrowed = Array.isArray(client.scopes)
        ? { ...client, scopes: client.scopes.filter((name) => !lostScopes.has(name)) }
        : client
      const usable = usableClient(narrowed, [...names].map(String), checks, optional, (finding) =>
        more.push({ entry, ...finding }),
      )
      if (usable === undefined) return []
      for (const plugin of pluginsOf(usable, providers)) {
        more.push({
          entry,
          what: `the configuration needs the plugin ${plugin}`,
          outcome: 'lost',
          consequence: 'sign-in',
        })
      }
      const problem = entryProblem(String(client.clientId), usable as JsonObject)
      if (problem !== undefined) return lost(entry, problem)
      for (const gap of clientGaps(usable as never)) {
        const what = gap.slice(`${usable.clientId} `.length)
        more.push({ entry, what, outcome: 'changed', consequence: 'sign-in' })
      }
      return [usable]
    })
    const usableUsers = users.flatMap((user) => {
      const problem = userProblem(user)
      return problem === undefined ? [user] : lost(`user ${user.username}`, problem)
    })
    return { scopes: usableScopes, clients: usableClients, users: usableUsers, findings: [...findings, ...more] }
  })
}
