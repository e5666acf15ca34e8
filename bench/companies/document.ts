import { formatInteger } from '../report/figures.ts'
import { markdown, type Section, wrap } from '../report/section.ts'
import {
  type CompanyFigures,
  type CompanyOperation,
  type CompanyResults,
  companyOperationNames,
  companyOperations,
} from './figures.ts'
import { racers } from './measure-races.ts'

/** The least CPU per request of a server as a multiple of ours, in each operation. */
export const goals: Readonly<Record<string, number>> = { 'oidc-provider': 2.5, 'hydra (one round)': 4 }

const grantry = 'grantry'

/** Returns the smallest and largest count, or both as one number. */
function range(counts: readonly number[]): string {
  if (counts.length === 0) return '-'
  const [least, most] = [Math.min(...counts), Math.max(...counts)]
  return least === most ? String(least) : `${least} to ${most}`
}

const megabytes = (bytes: number): string => formatInteger(bytes / 1e6)

type Servers = readonly CompanyFigures[]

const cpuOf = (servers: Servers, name: string, operation: CompanyOperation): number | undefined =>
  servers.find((server) => server.name === name)?.costs[operation]?.cpu

function ratioOf(servers: Servers, name: string, operation: CompanyOperation): number | undefined {
  const [ours, theirs] = [cpuOf(servers, grantry, operation), cpuOf(servers, name, operation)]
  return ours === undefined || theirs === undefined ? undefined : theirs / ours
}

function cpuSection(servers: Servers): Section {
  const cell = (name: string, operation: CompanyOperation): string => {
    const [cpu, ratio] = [cpuOf(servers, name, operation), ratioOf(servers, name, operation)]
    if (cpu === undefined) return '-'
    return name === grantry || ratio === undefined ? formatInteger(cpu) : `${formatInteger(cpu)} (${ratio.toFixed(1)})`
  }
  return {
    title: 'CPU microseconds of the server per request',
    notes: [
      'In parentheses: as a multiple of grantry. An authorization code is two requests: session to code, code to tokens.',
      'hydra has no users and no pages: its code includes the calls with which an application accepts the sign-in and the consent. One round: of the hash of client secrets; the other column has the default.',
    ],
    rows: [
      ['operation', ...servers.map(({ name }) => name)],
      ...companyOperationNames.map((operation) => [
        companyOperations[operation],
        ...servers.map(({ name }) => cell(name, operation)),
      ]),
    ],
  }
}

const speedSection = (servers: Servers): Section => ({
  title: 'Requests per second on one core',
  notes: [
    'The load generator and PostgreSQL share the other core. Where they limit the speed, the CPU time tells more.',
  ],
  rows: [
    ['operation', ...servers.map(({ name }) => name)],
    ...companyOperationNames.map((operation) => [
      companyOperations[operation],
      ...servers.map(({ costs }) => {
        const speed = costs[operation]?.requestsPerSecond
        return speed === undefined ? '-' : formatInteger(speed)
      }),
    ]),
  ],
})

const otherSection = (servers: Servers): Section => ({
  title: 'Start, memory, disk and races',
  notes: [
    'First token: from the start of the process, on a database that has its tables. Memory is resident, idle after the first token.',
    'Disk: the packages with all of their dependencies, without Node.js; for hydra its binary.',
    `Different tokens: of ${racers} concurrent redemptions of one credential, the fewest and the most; 1 is right, or 0 where the server then revokes.`,
  ],
  rows: [
    ['', ...servers.map(({ name }) => name)],
    ['first token, ms', ...servers.map(({ firstToken }) => formatInteger(firstToken))],
    ['memory idle, MB', ...servers.map(({ idleMemory }) => megabytes(idleMemory))],
    ['memory loaded, MB', ...servers.map(({ loadedMemory }) => megabytes(loadedMemory))],
    ['disk, MB', ...servers.map(({ disk }) => (disk / 1e6).toFixed(1))],
    ['different tokens of a code', ...servers.map(({ races }) => range(races.code))],
    ['different tokens of a refresh token', ...servers.map(({ races }) => range(races.refresh))],
  ],
})

/** Compares with the goals, as precisely as the table shows the ratios. */
export function goalSection(servers: Servers): Section {
  const rows = Object.entries(goals).flatMap(([name, goal]) =>
    companyOperationNames.flatMap((operation) => {
      const ratio = ratioOf(servers, name, operation)
      if (ratio === undefined) return []
      const met = Number(ratio.toFixed(2)) >= goal ? 'yes' : 'no'
      return [[`${companyOperations[operation]}: ${name} to ${grantry}`, goal.toFixed(1), ratio.toFixed(2), met]]
    }),
  )
  const met = rows.filter((row) => row.at(-1) === 'yes').length
  return {
    title: 'Goals',
    notes: ['The ratio of the CPU time per request, at least.', `${met} of ${rows.length} goals are met.`],
    rows: [['goal', 'wanted', 'reached', 'met'], ...rows],
  }
}

/** Returns the tables of a run. */
export const companySections = ({ servers }: Pick<CompanyResults, 'servers'>): readonly Section[] => [
  cpuSection(servers),
  speedSection(servers),
  otherSection(servers),
  goalSection(servers),
]

const reading = `
One PostgreSQL for all, with a database for each server, in which the users are rows of a table. Each
server runs on one core, with 32 connections, one request at a time on each. It is warmed up before
each operation, and every response is checked. A figure is the median of the rounds; the CPU time is
that of all processes of the server, without the database. Each connection presents a token of its
own.
`

/** Returns the text of `bench/COMPANIES.md`. */
export function companiesDocument(results: CompanyResults): string {
  const { date, commit, command, machine, loadBefore, loadAfter, servers, leftOut, owners } = results
  const facts = [
    `\`${command}\`, ${date}, commit ${commit}`,
    machine,
    `load average before the run ${loadBefore.toFixed(2)}, after it ${loadAfter.toFixed(2)}`,
    servers.map(({ name, version }) => `${name} ${version}`).join(', '),
    owners === 'one'
      ? 'all tokens are of one user'
      : 'each token is of another user, but those of hydra, which reads no users',
    ...leftOut.map((reason) => `left out: ${reason}`),
  ]
  return [
    '# Results of `npm run bench:companies`',
    '',
    ...facts.map((fact) => wrap(`- ${fact}`, '  ')),
    reading,
    companySections(results).map(markdown).join('\n'),
  ].join('\n')
}
