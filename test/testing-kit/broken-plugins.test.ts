import { testPlugin } from '@grantry/core/testing'
import { describe, expect, test } from 'vitest'
import { brokenEndpoints, office, officeCase } from './broken-plugins/endpoints.ts'
import { brokenGrants } from './broken-plugins/grants.ts'
import { brokenLeaks } from './broken-plugins/leaks.ts'
import { brokenMethods, correctMethod } from './broken-plugins/methods.ts'
import { brokenSingleUse } from './broken-plugins/single-use.ts'
import { ticketCase, ticketGrant } from './broken-plugins/tickets.ts'

// A kit that finds nothing proves nothing: each plugin is broken on purpose, and breaks exactly the listed rules.

const broken = [...brokenGrants, ...brokenSingleUse, ...brokenLeaks, ...brokenEndpoints, ...brokenMethods]

async function reportOf(...[plugin, cases]: Parameters<typeof testPlugin>): Promise<string> {
  try {
    await testPlugin(plugin, cases)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

const rulesIn = (report: string): readonly string[] => [
  ...new Set([...report.matchAll(/^- \[([\w-]+)\]/gmu)].map(([, rule = '']) => rule)),
]

describe('testPlugin()', () => {
  test.each(broken)('finds that a plugin $defect', async ({ plugin, cases, rules }) => {
    const report = await reportOf(plugin, cases)
    expect(new Set(rulesIn(report)), report).toEqual(new Set(rules))
  })

  test('finds nothing in a correct plugin', async () => {
    expect(await reportOf(ticketGrant(), ticketCase())).toBe('')
    expect(await reportOf(office(), officeCase())).toBe('')
    expect(await reportOf(correctMethod.plugin, correctMethod.cases)).toBe('')
  })

  test('finds forty broken plugins', () => {
    expect(broken.length).toBeGreaterThanOrEqual(60)
  })
})
