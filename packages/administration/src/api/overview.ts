import type { Reply } from '@grantry/core'
import * as v from 'valibot'
import { adminScope } from './administrator.ts'
import type { AdminHost } from './host.ts'
import { nothing, type Operation, operation } from './operation.ts'
import { pageQuery, pageReply } from './page.ts'

const audit = operation({
  id: 'listAudit',
  method: 'GET',
  path: '/audit',
  summary: 'List the changes of the last year, the newest first',
  params: v.strictObject(pageQuery),
  status: 200,
  async handle({ host, params: { limit, after }, kit }) {
    const { records, next } = await host.administration.audit({ limit, after })
    return pageReply(kit, '/audit', { items: records, next }, { limit: String(limit) })
  },
})

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
          ...(sub !== undefined && { sub }),
          canChange: scopes.includes(adminScope),
        },
        resources: [
          'clients',
          'scopes',
          'users',
          'keys',
          'audit',
          ...(host.sessions === undefined ? [] : ['sessions']),
          ...(host.consents === undefined ? [] : ['consents']),
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
