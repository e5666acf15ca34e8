// Servers that list a tenant, whose clients leave and come back.
import { hashPassword } from '@grantry/users/password-hash'
import { expect } from 'vitest'
import { clientOf, loadedOf, type Running } from './running.ts'
import { minutes, type Service, service } from './several-servers.ts'

const alice = { sub: 'alice', username: 'alice', password: await hashPassword('alice-password') }

export const fileOf = (clientIds: readonly string[], more: object = {}) => {
  const clients = clientIds.map((id) => clientOf(id))
  const acme = { name: 'acme', clients, users: [alice], scopes: [{ name: 'api1' }], ...more }
  // A write that a test holds must not end by itself on a busy machine.
  return loadedOf({ storageTimeLimit: 60, tenants: { list: [acme, { name: 'other' }] } })
}
export const withOld = () => fileOf(['web', 'old'])
export const without = () => fileOf(['web'])
export const withoutTenant = () => loadedOf({ tenants: { list: [{ name: 'other' }] } })

const token = '/t/acme/connect/token'
/** Opens the tenant at a server, or keeps it open. */
export const use = ({ post }: Running) => post(token, { grant_type: 'client_credentials', scope: 'api1' })

export async function refreshTokenOf({ post }: Running): Promise<string> {
  const scope = 'openid offline_access'
  const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope }
  const response = await post(token, form, 'old')
  expect(response.status).toBe(200)
  return ((await response.json()) as { readonly refresh_token: string }).refresh_token
}

export const works = async (refreshToken: string, { post }: Running): Promise<boolean> =>
  (await post(token, { grant_type: 'refresh_token', refresh_token: refreshToken }, 'old')).status === 200

/** Lets the servers run, while the tenant is used at some of them. */
export async function pass(servers: Service, seconds: number, ...usedAt: readonly Running[]): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 5 * minutes) {
    for (const server of usedAt) expect((await use(server)).status).toBe(200)
    await servers.pass(5 * minutes)
  }
}

/** Returns a server with the client, to which it has issued a refresh token. */
export async function issued() {
  const servers = service()
  const server = await servers.start(withOld())
  const kept = await refreshTokenOf(server)
  await pass(servers, 10 * minutes, server)
  return { servers, server, kept }
}
