import {
  type Call,
  configurationObject,
  defineEndpoint,
  defineFields,
  definePlugin,
  type EndpointKit,
  type Plugin,
  parseConfiguration,
  type Reply,
  sealing,
} from '@grantry/core'
import * as v from 'valibot'
import { adminScope, assertAdministrator, assertNotAdministrator, nameOf, readScope } from './administrator.ts'
import { clientOperations } from './clients.ts'
import type { AdminHost } from './host.ts'
import { createMatch } from './match.ts'
import type { Operation } from './operation.ts'
import { parametersOf } from './parameters.ts'
import { problemOf } from './refusals.ts'

declare module '@grantry/core' {
  interface PluginEndpoints {
    admin: true
  }
  interface OAuthErrorCodes {
    not_administrator: 403
  }
}

const ids = (what: string) =>
  v.array(
    v.pipe(v.string(`must be ${what}`), v.minLength(1, 'must not be empty'), v.maxLength(255, 'is too long')),
    `must be an array of ${what}`,
  )

/** The schema of the options that a configuration can contain. */
export const adminSchema = configurationObject({
  clients: v.pipe(ids('client ids'), v.nonEmpty('must name at least one client')),
  administrators: v.optional(ids('the subs of users'), []),
})

export interface AdminOptions extends v.InferInput<typeof adminSchema> {
  /** Returns what the API changes. Called once, with the first request. */
  readonly host: () => AdminHost
}

/**
 * The admin API at `/admin/v1`, for access tokens with the scope `admin`, or `admin:read` for GET, of the named clients and
 * administrators.
 *
 * @throws TypeError for a mistake in the options.
 */
export function admin({ host: open, ...options }: AdminOptions): Plugin {
  const { clients, administrators: subs } = parseConfiguration(adminSchema, options, 'admin()')
  const administrators = { clients: new Set(clients), subs: new Set(subs) }
  const operations: readonly Operation[] = clientOperations
  const match = createMatch(operations)
  let opened: AdminHost | undefined
  const host = (): AdminHost => {
    opened ??= open()
    return opened
  }

  async function run({ caller, params, request }: Call<unknown, 'token'>, kit: EndpointKit): Promise<Reply> {
    const { operation, ids } = match(request.method, request.segments, kit)
    assertAdministrator(caller, operation, administrators, kit)
    const given = parametersOf(operation, params, kit)
    const { administration } = host()
    const managers = administration.as({ who: nameOf(caller), from: request.clientAddress })
    const [id = (given as { readonly clientId?: string }).clientId] = ids
    assertNotAdministrator(id, operation, administrators, kit)
    return operation.handle({ kit, host: host(), managers, caller, request, ids, params: given })
  }

  return definePlugin('admin', [
    sealing,
    defineFields({
      scopes: [{ name: adminScope }, { name: readScope }],
      errors: { not_administrator: 403 },
    }),
    defineEndpoint({
      name: 'admin',
      path: '/admin/v1',
      subpaths: true,
      methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      body: 'json',
      caller: 'token',
      scope: [adminScope, readScope],
      problems: true,
      params: v.any(),
      async handle(call, kit) {
        try {
          return await run(call, kit)
        } catch (thrown) {
          throw problemOf(thrown, kit)
        }
      },
    }),
  ])
}
