import type { Plugins } from '@grantry/core'
import { type Bench, createBench, partsOf } from './bench.ts'
import { checkBinding } from './binding-rules.ts'
import type { PluginCases } from './cases.ts'
import { checkEndpoint } from './endpoint-rules.ts'
import { createFindings } from './findings.ts'
import { checkFormat } from './format-rules.ts'
import { checkGrant } from './grant-rules.ts'
import { checkHostFunctions } from './host-rules.ts'
import { checkMetadata } from './metadata-rules.ts'
import { checkMethod } from './method-rules.ts'

/** Runs the check of each case that has a part. Reports parts without a case and cases without a part. */
async function runCases<P, C>(
  bench: Bench,
  kind: string,
  parts: readonly (readonly [name: string, part: P, isOwn: boolean])[],
  cases: Readonly<Record<string, C>> | undefined,
  check: (bench: Bench, part: P, testCase: C) => Promise<void>,
): Promise<void> {
  for (const [name, part, isOwn] of parts) {
    const testCase = cases?.[name]
    if (testCase !== undefined) await check(bench, part, testCase)
    else if (isOwn) bench.findings.add('cases', `${kind} ${name}`, 'it has none')
  }
  for (const name of Object.keys(cases ?? {})) {
    if (!parts.some(([known]) => known === name)) bench.findings.add('cases', `${kind} ${name}`, 'it does not exist')
  }
}

/**
 * Tests whether a plugin follows the rules of the protocol. Runs each request of the cases in many variants, each with a
 * new provider, and takes a second or two. Needs no test runner.
 *
 * @param plugin the plugin, or a function that creates it: then each provider has its own, as in several processes
 * @throws Error with one line for each broken rule of each part: what was expected, and what happened
 * @example
 * await testPlugin(badgeGrant, { grants: { 'urn:example:badge': { succeeds: { badge_id: '123456' } } } })
 */
export async function testPlugin(plugin: Plugins | (() => Plugins), cases: PluginCases): Promise<void> {
  const findings = createFindings()
  const bench = createBench(plugin, cases, findings)
  const ownGrantTypes = partsOf(bench.parts, 'grant').map(({ part }) => part.grantType)
  const grants = bench.grants.map((grant) => [grant.grantType, grant, ownGrantTypes.includes(grant.grantType)] as const)
  await runCases(bench, 'grant', grants, cases.grants, checkGrant)
  const endpoints = partsOf(bench.parts, 'endpoint').map(({ part }) => [part.name, part, true] as const)
  await runCases(bench, 'endpoint', endpoints, cases.endpoints, checkEndpoint)
  const methods = partsOf(bench.parts, 'client-authentication').map(({ part }) => [part.method, part, true] as const)
  await runCases(bench, 'method', methods, cases.methods, checkMethod)
  const bindings = partsOf(bench.parts, 'token-binding').map(({ part }) => [part.member, part, true] as const)
  await runCases(bench, 'binding', bindings, cases.bindings, checkBinding)
  for (const { part } of partsOf(bench.parts, 'response-format')) await checkFormat(bench, part)
  for (const { part } of partsOf(bench.parts, 'host-functions')) await checkHostFunctions(bench, part)
  await checkMetadata(bench)
  findings.assertNone([...new Set(bench.parts.map((part) => part.plugin))].join(', '))
}
