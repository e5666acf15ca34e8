// Clients that an administrator changes by command while four processes of the server run on one storage.
import { sha256Of } from '@grantry/testing'
import { expect } from 'vitest'
import { post, type Service, soonEverywhere, trailOf } from './service.ts'

const secretIn = (out: string): string => /^secret {2}(\S+)$/mu.exec(out)?.[1] ?? ''

export async function clientsChange({ command, everywhere }: Service): Promise<void> {
  const trail = await trailOf(command)
  const tokensWith = (secret: string) =>
    everywhere((origin) =>
      post(`${origin}/connect/token`, ['batch', secret], { grant_type: 'client_credentials', scope: 'api1' }),
    )
  const statusesWith = async (secret: string) => new Set((await tokensWith(secret)).map(({ status }) => status))

  // A process that has been asked for the client before finds it, too.
  expect(await statusesWith('no secret')).toEqual(new Set([401]))
  const secret = secretIn(await command('clients', 'add', 'batch', '--grant', 'client_credentials', '--scope', 'api1'))
  const tokens = await tokensWith(secret)
  expect(new Set(tokens.map(({ status }) => status))).toEqual(new Set([200]))

  const rotated = secretIn(await command('clients', 'rotate-secret', 'batch', '--overlap', '7d'))
  await soonEverywhere(async () => expect(await statusesWith(rotated)).toEqual(new Set([200])))
  expect(await statusesWith(secret)).toEqual(new Set([200]))
  const [token] = tokens.map(({ body }) => String(body.access_token))
  const isActive = () =>
    everywhere(async (origin) => {
      const url = `${origin}/connect/introspect`
      return (await post(url, ['api1', 'api1-secret'], { token: token as string })).body.active
    })
  expect(await isActive()).toEqual([true, true, true, true])
  const last = secretIn(await command('clients', 'rotate-secret', 'batch'))
  await command('clients', 'disable', 'batch')
  expect(await isActive()).toEqual([false, false, false, false])
  await soonEverywhere(async () => expect(await statusesWith(last)).toEqual(new Set([401])))

  await command('clients', 'enable', 'batch')
  await soonEverywhere(async () => expect(await statusesWith(last)).toEqual(new Set([200])))
  expect(await statusesWith(rotated)).toEqual(new Set([401]))
  await command('clients', 'remove', 'batch')
  await soonEverywhere(async () => expect(await statusesWith(last)).toEqual(new Set([401])))

  const changes = await trail()
  expect(changes.map(({ action }) => action)).toEqual([
    'client_removed',
    'client_changed',
    'client_changed',
    'client_secret_rotated',
    'client_secret_rotated',
    'client_added',
  ])
  for (const hidden of [secret, rotated, last, sha256Of(secret), sha256Of(last)]) {
    expect(JSON.stringify(changes)).not.toContain(hidden)
  }
}
