// Scopes that an administrator changes by command while four processes of the server run on one storage.
import { expect } from 'vitest'
import { post, type Service, soonEverywhere } from './service.ts'

const secretIn = (out: string): string => /^secret {2}(\S+)$/mu.exec(out)?.[1] ?? ''

export async function scopesChange({ command, everywhere }: Service): Promise<void> {
  const scopeSecret = secretIn(await command('scopes', 'add', 'api2', '--audience', 'https://api2', '--secret'))
  const add = ['clients', 'add', 'scoped', '--grant', 'client_credentials', '--scope', 'api2']
  const secret = secretIn(await command(...add))
  const tokens = () =>
    everywhere((origin) =>
      post(`${origin}/connect/token`, ['scoped', secret], { grant_type: 'client_credentials', scope: 'api2' }),
    )
  const statuses = async () => new Set((await tokens()).map(({ status }) => status))
  const supported = () =>
    everywhere(async (origin) => {
      const document = (await (await fetch(`${origin}/.well-known/openid-configuration`)).json()) as {
        scopes_supported: readonly string[]
      }
      return document.scopes_supported.includes('api2')
    })
  await soonEverywhere(async () => expect(await statuses()).toEqual(new Set([200])))
  expect(await supported()).toEqual([true, true, true, true])

  const [token = ''] = (await tokens()).map(({ body }) => String(body.access_token))
  const introspect = (as: string) =>
    everywhere(async (origin) => {
      const { status, body } = await post(`${origin}/connect/introspect`, ['api2', as], { token })
      return status === 200 ? body.active : status
    })
  expect(await introspect(scopeSecret)).toEqual([true, true, true, true])
  const next = secretIn(await command('scopes', 'rotate-secret', 'api2', '--overlap', '7d'))
  await soonEverywhere(async () => expect(await introspect(next)).toEqual([true, true, true, true]))
  expect(await introspect(scopeSecret)).toEqual([true, true, true, true])

  await command('scopes', 'disable', 'api2')
  await soonEverywhere(async () => expect(await statuses()).toEqual(new Set([400])))
  expect(await introspect(next)).toEqual([401, 401, 401, 401])
  expect(await supported()).toEqual([false, false, false, false])
  await command('scopes', 'enable', 'api2')
  await soonEverywhere(async () => expect(await statuses()).toEqual(new Set([200])))
  await command('scopes', 'remove', 'api2', '--force')
  await soonEverywhere(async () => expect(await statuses()).toEqual(new Set([400])))
}
