// Users that an administrator changes by command while four processes of the server run on one storage.
import { sha256Of } from '@grantry/testing'
import { expect } from 'vitest'
import { post, type Service, soonEverywhere, trailOf } from './service.ts'

const password = 'correct horse battery'
export const signInClient = {
  clientId: 'web',
  secrets: [{ sha256: sha256Of('web-secret') }],
  grantTypes: ['password'],
  scopes: ['api1'],
  accessTokenFormat: 'reference',
}

export async function usersChange({ command, commandWith, inProcess, everywhere }: Service): Promise<void> {
  const trail = await trailOf(command)
  const signIn = (username: string, typed = password) =>
    everywhere((origin) =>
      post(`${origin}/connect/token`, ['web', 'web-secret'], {
        grant_type: 'password',
        username,
        password: typed,
        scope: 'api1',
      }),
    )
  const statusesOf = async (username: string, typed?: string) =>
    new Set((await signIn(username, typed)).map(({ status }) => status))

  expect(await statusesOf('alice')).toEqual(new Set([400]))
  await commandWith(`${password}\n`, 'users', 'add', 'alice', '--sub', 'a')
  const tokens = await signIn('ALICE')
  expect(new Set(tokens.map(({ status }) => status))).toEqual(new Set([200]))
  const [token] = tokens.map(({ body }) => String(body.access_token))
  const isActive = () =>
    everywhere(async (origin) => {
      const { body } = await post(`${origin}/connect/introspect`, ['api1', 'api1-secret'], { token: token as string })
      return body.active
    })
  expect(await isActive()).toEqual([true, true, true, true])

  await command('users', 'edit', 'a', '--username', 'alicia')
  expect([await statusesOf('alice'), await statusesOf('alicia')]).toEqual([new Set([400]), new Set([200])])
  await command('users', 'disable', 'alicia')
  expect(await isActive()).toEqual([false, false, false, false])
  expect(await statusesOf('alicia')).toEqual(new Set([400]))
  await command('users', 'enable', 'a')
  await soonEverywhere(async () => expect(await statusesOf('alicia')).toEqual(new Set([200])))
  await command('users', 'remove', 'a')
  expect(await statusesOf('alicia')).toEqual(new Set([400]))

  for (const name of ['bob', 'carol']) {
    const codes = await Promise.all(
      [name, name.toUpperCase()].map((spelling) => inProcess('users', 'add', spelling, '--no-password')),
    )
    expect(codes.sort()).toEqual([0, 1])
  }
  expect(JSON.parse(await command('users', 'list', '--json')).users).toHaveLength(2)
  expect((await trail()).map(({ action }) => action)).toEqual([
    'user_added',
    'user_added',
    'user_removed',
    'user_changed',
    'user_changed',
    'user_changed',
    'user_added',
  ])
}
