// A rule of a plugin is one value: it warns at the start, is a finding of the check, or both.
import { defineFields, definePlugin, type ProviderEvent, type Rule } from '@grantry/core'
import { createTestProvider } from '@grantry/testing'
import { expect, test } from 'vitest'

const rule: Rule = {
  id: 'client-unnamed',
  severity: 'info',
  remedy: 'give it a name',
  source: 'docs/tags.md',
  at: 'both',
  check: ({ clients, issuer }) =>
    clients.map(({ clientId }, index) => ({
      where: `clients[${index}]`,
      reason: `${clientId} has no name at ${issuer}`,
    })),
}
const plugin = (...rules: readonly Rule[]) => definePlugin('tags', [defineFields({ rules })])

async function started(...rules: readonly Rule[]) {
  const warnings: unknown[] = []
  const { provider } = await createTestProvider({
    clients: [{ clientId: 'web', public: true, grantTypes: [] }],
    plugins: [plugin(...rules)],
    observe(event: ProviderEvent) {
      if (event.type === 'startup_warning' && event.reason.startsWith('plugin:'))
        warnings.push([event.reason, event.message])
    },
  })
  return {
    warnings,
    // The core finds something, too.
    findings: provider.findings().filter(({ id }) => id.includes(':')),
  }
}

const warning = [
  'plugin:tags:client_unnamed',
  expect.stringMatching(/^web has no name at \S+; give it a name \(docs\/tags\.md\)$/u),
]
const finding = {
  id: 'tags:client-unnamed',
  severity: 'info',
  where: 'clients[0]',
  reason: expect.stringContaining('web has no name'),
  remedy: 'give it a name',
  source: 'docs/tags.md',
}

test.each([
  ['both', [warning], [finding]],
  ['start', [warning], []],
  ['check', [], [finding]],
] as const)('a rule for %s', async (at, warnings, findings) => {
  expect(await started({ ...rule, at })).toEqual({ warnings, findings })
})

test.each([
  ['two rules with one id', [rule, { ...rule, at: 'check' }], 'plugins: tags has two rules with the id client-unnamed'],
  ['an id with a capital', [{ ...rule, id: 'ClientUnnamed' }], 'must be words with hyphens, such as tag-missing'],
  ['an id that is too long for a reason', [{ ...rule, id: 'a'.repeat(51) }], 'must be words with hyphens'],
  ['another severity', [{ ...rule, severity: 'fatal' }], 'must be one of error, warning, info'],
  ['a remedy of two lines', [{ ...rule, remedy: 'a\nb' }], 'must be one line of text'],
  ['no check', [{ ...rule, check: undefined }], 'must be a function'],
])('%s is refused at the start', async (_what, rules, message) => {
  await expect(started(...(rules as readonly Rule[]))).rejects.toThrow(message)
})
