// The plugin of a third party brings a rule, which `grantry check` runs beside those of the server.
import { defineFields, definePlugin, parseConfiguration } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { createTestProvider } from '@grantry/testing'
import { expect, test } from 'vitest'
import { collectFacts } from '../../../packages/server/src/doctor/collect-facts.ts'
import { runChecks } from '../../../packages/server/src/doctor/run-checks.ts'
import { configurationSchema } from '../../support/configuration-schema.ts'
import { healthy, written } from './configurations.ts'

const tags = definePlugin('tags', [
  defineFields({
    rules: [
      {
        id: 'scope-without-tag',
        severity: 'warning',
        remedy: 'name a tag',
        source: 'https://tags.example.com/rules',
        at: 'check',
        check: ({ scopes }) =>
          scopes.flatMap(({ name }) =>
            name === 'api1' ? [{ where: `scopes: ${name}`, reason: `${name} has no tag` }] : [],
          ),
      },
    ],
  }),
])

async function findingsWith(more: object = {}) {
  const { file, directory } = written(healthy)
  const configuration = parseConfiguration(configurationSchema, { ...healthy, plugins: [tags], ...more }, '')
  return runChecks(await collectFacts({ configuration, file, directory })).map(({ id, severity, where }) => [
    id,
    severity,
    where,
  ])
}

test('it is a finding with the name of the plugin', async () => {
  expect(await findingsWith()).toEqual([['tags:scope-without-tag', 'warning', 'scopes: api1']])
})

test('the operator can accept it, and sees an acceptance that is unused', async () => {
  expect(await findingsWith({ check: { accept: ['tags:scope-without-tag'] } })).toEqual([
    ['tags:scope-without-tag', 'accepted', 'scopes: api1'],
  ])
  expect(await findingsWith({ check: { accept: ['tags:scope-without-tag', 'tags:other'] } })).toContainEqual([
    'acceptance-unused',
    'warning',
    'check.accept[1]',
  ])
})

test('the ready server has no finding of these rules of the core, because it has the plugins; another program does', async () => {
  const { provider } = await createTestProvider({
    plugins: [authorizationCode()],
    users: { authenticate: () => undefined },
  })
  const ids = ['demand-unchecked', 'passwords-unchecked']
  expect(provider.findings().map(({ id }) => id)).toEqual(expect.arrayContaining(ids))
  expect((await findingsWith({ plugins: [] })).filter(([id]) => ids.includes(String(id)))).toEqual([])
})
