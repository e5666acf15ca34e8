import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { companySections, goalSection } from '../../bench/companies/document.ts'
import { type CompanyFigures, companyOperationNames } from '../../bench/companies/figures.ts'
import { differentTokens } from '../../bench/companies/measure-races.ts'
import { measureServer } from '../../bench/companies/measure-server.ts'
import { benchFolder, nodeServers } from '../../bench/companies/node-servers.ts'
import { usersTableText } from '../../bench/companies/users-table.ts'
import { runSlice } from '../../bench/load/run-slice.ts'
import { type Bundles, openBundles } from '../../bench/run/bundles.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'

const figuresOf = (name: string, cpu: number): CompanyFigures => ({
  name,
  version: '1.0.0',
  costs: { refresh: { cpu, requestsPerSecond: 1000 } },
  firstToken: 400,
  idleMemory: 60e6,
  loadedMemory: 120e6,
  disk: 10e6,
  races: { code: [1, 20], refresh: [1, 1] },
})

describe('the comparison with the servers of companies', () => {
  const servers = [figuresOf('grantry', 100), figuresOf('oidc-provider', 249), figuresOf('hydra (one round)', 400)]

  it('compares the CPU time of each server with the goals', () => {
    const { rows, notes } = goalSection(servers)
    expect(rows.slice(1)).toEqual([
      ['refresh: oidc-provider to grantry', '2.5', '2.49', 'no'],
      ['refresh: hydra (one round) to grantry', '4.0', '4.00', 'yes'],
    ])
    expect(notes).toContain('1 of 2 goals are met.')
  })

  it('prints a column for each server, and a dash for what a server lacks', () => {
    const [cpu, , others] = companySections({ servers })
    expect(cpu?.rows[0]).toEqual(['operation', 'grantry', 'oidc-provider', 'hydra (one round)'])
    expect(cpu?.rows.find(([name]) => name === 'refresh')).toEqual(['refresh', '100', '249 (2.5)', '400 (4.0)'])
    expect(cpu?.rows.find(([name]) => name === 'userinfo')).toEqual(['userinfo', '-', '-', '-'])
    expect(others?.rows.find(([name]) => name === 'different tokens of a code')?.[1]).toBe('1 to 20')
  })

  it('counts the different tokens of the responses that have one', () => {
    const response = (status: number, token: string) => ({ status, body: JSON.stringify({ access_token: token }) })
    expect(differentTokens([response(200, 'a'), response(200, 'a'), response(200, 'b'), response(400, 'c')])).toBe(2)
    expect(differentTokens([{ status: 502, body: 'Bad Gateway' }])).toBe(0)
  })
})

describeWithPostgresql('the comparison with the servers of companies, on PostgreSQL', () => {
  const start = postgresqlServers()
  let bundles: Bundles
  beforeAll(() => {
    bundles = openBundles(benchFolder)
  })
  afterAll(() => bundles.remove())

  it('measures Grantry in each operation, with users in a table', async () => {
    const postgresql = await start()
    await postgresql.query(usersTableText())
    const [grantry] = nodeServers(benchFolder, bundles)
    if (grantry === undefined) throw new Error('No server')
    const generator = { run: runSlice, stop() {} }
    const plan = { warmup: 0, seconds: 0.05, rounds: 1, connections: 2, races: 1 }
    // The packages are not built here.
    const server = { ...grantry, disk: () => 1 }
    const { costs, races } = await measureServer(server, postgresql.url, generator, plan, () => true)
    expect(Object.keys(costs)).toEqual(companyOperationNames)
    expect(races).toEqual({ code: [1], refresh: [1] })
  })
})
