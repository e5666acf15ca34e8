import { parseTime, type Reply } from '@grantry/core'
import * as v from 'valibot'
import { auditKinds } from '../audit-pages.ts'
import { adminScope } from './administrator.ts'
import { pageQuery, pageReply } from './entry-page.ts'
import type { AdminHost } from './host.ts'
import { nothing, type Operation, operation } from './operation.ts'

const notTime = 'must be a time with a zone, such as 2026-11-26T10:00:00Z'

const time = v.optional(
  v.pipe(
    v.string(),
    v.isoTimestamp(notTime),
    v.check((text) => parseTime(text) !== undefined, notTime),
  ),
)

const millisecondsOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : parseTime(text)

const audit = operation({
  id: 'listAudit',
  method: 'GET',
  path: '/audit',
  summary: 'List the changes of the last year, the newest first. `since` and `until` include their own time',
  params: v.strictObject({
    ...pageQuery,
    kind: v.optional(v.picklist(auditKinds)),
    id: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(512))),
    who: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(2000))),
    since: time,
    until: time,
  }),
  status: 200,
  async handle({ host, params: { limit, after, ...filter }, kit }) {
    const range = { since: millisecondsOf(filter.since), until: millisecondsOf(filter.until) }
    const { records, next } = await host.administration.audit({ ...filter, ...range, limit, after })
    return pageReply(kit, '/audit', { items: records, next }, { ...filter, limit: String(limit) })
  },
})

/** Returns the name of an administrator. Without one, and while users cannot be read, the caller is shown by the `sub`. */
async function nameOf(sub: string, { users }: AdminHost): Promise<{ readonly username?: string }> {
  const matches = (await users?.find(sub).catch(() => [])) ?? []
  const username = matches.find((user) => user.sub === sub)?.username
  return username === undefined ? {} : { username }
}

/** The operations that describe the API itself, and the audit trail. */
export const overviewOperations = (describe: (url: string, host: AdminHost) => Reply['json']): readonly Operation[] => [
  operation({
    id: 'getOverview',
    method: 'GET',
    path: '/',
    summary: 'Who the caller is, and what this server has',
    params: nothing,
    status: 200,
    handle: async ({ kit, caller: { client, sub, scopes }, host }) => ({
      json: {
        issuer: kit.issuer,
        caller: {
          client: client.clientId,
          ...(sub !== undefined && { sub, ...(await nameOf(sub, host)) }),
          canChange: scopes.includes(adminScope),
        },
        usersIn: host.users?.inStorage === false ? 'service' : 'storage',
        resources: [
          'clients',
          'scopes',
          'users',
          'keys',
          'audit',
          ...(host.users === undefined ? [] : ['known-users']),
          ...(host.sessions === undefined ? [] : ['sessions']),
          ...(host.consents === undefined ? [] : ['consents']),
          ...(host.authorizations === undefined ? [] : ['authorizations']),
          ...(host.hasTenants === true ? ['tenants'] : []),
          ...(host.secondFactors?.withoutReset.length === 0 ? ['second-factors'] : []),
        ],
      },
    }),
  }),
  operation({
    id: 'getDescription',
    method: 'GET',
    path: '/openapi.json',
    summary: 'This description',
    params: nothing,
    status: 200,
    handle: async ({ kit, host }) => ({ json: describe(String(kit.endpointUrl('admin')), host) }),
  }),
  audit,
]
