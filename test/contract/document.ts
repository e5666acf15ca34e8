import type { ContractCase } from './contract-case.ts'
import type { ContractRuntime } from './runtimes.ts'

const cell = (text: string): string => text.replaceAll('|', '\\|')

const row = (...cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`

/** The document of the suite, whole: `docs/contract-suite.md` is exactly this. */
export function contractDocument(
  runtimes: readonly ContractRuntime[],
  cases: readonly ContractCase[],
  addressCases: readonly ContractCase[],
): string {
  const steps = (list: readonly ContractCase[]): number => list.reduce((sum, one) => sum + one.steps.length, 0)
  const deviations = runtimes.flatMap(({ name, deviations = {} }) =>
    Object.entries(deviations).map(([title, { why }]) => row(name, title, why)),
  )
  return `# The contract suite

One table of cases, the same bytes on every runtime: \`test/contract/cases.ts\`. Each row of it is a test of each runtime (\`npx vitest run test/contract\`). Every program serves the same provider
(\`test/contract/provider.ts\`): fixed clients, scopes, users and key, records in memory. The runtimes are in \`runtimes/\`: \`npm run runtimes\` installs them. This page is made from the table with
\`node scripts/run-program.js test/contract/write-document.ts\`, and a test compares them.

## Runtimes

| runtime | version | what carries the provider |
| --- | --- | --- |
${row('in the process', 'yours', '`provider.fetch`: the cases that a `Request` can say')}
${runtimes.map((runtime) => row(runtime.name, runtime.version, `\`${runtime.adapter.replace(', ', '`, `')}\``)).join('\n')}

## Cases

${cases.length} cases, ${steps(cases)} requests. The mark ⇄ says that a case is about HTTP itself and is not asked in the process.

| case | requests |
| --- | --- |
${cases.map(({ name, wireOnly, steps }) => row(wireOnly ? `${name} ⇄` : name, String(steps.length))).join('\n')}

On the runtimes that know where a request comes from (Node.js, Bun, Deno), behind one trusted proxy, ${addressCases.length} more:

| case | requests |
| --- | --- |
${addressCases.map(({ name, steps }) => row(name, String(steps.length))).join('\n')}

Beside the table, each program writes nothing to its console, and ends with 0 when it is told to.

## Where one answers otherwise

A test fails when a deviation is gone.

| runtime | case | why |
| --- | --- | --- |
${deviations.join('\n')}

## What the platforms decide

* Deno has no time limit for the head of a request, and keeps the connection of a body that came too late, although it is answered with 408 in time. A proxy in front of it should limit both.
* Bun closes a connection on which nothing moves for \`requestTimeout\` and ten seconds more (at most 255); Node.js has its own limits.
* A Worker is told no address of its caller: \`fetchHandler(provider, { clientAddress })\` takes it from the header that the platform sets.
* Two \`Authorization\` headers reach a Fetch runtime joined by a comma, which no Basic or Bearer credential can hold: the adapters refuse it. hattip on Node.js has kept the first of them.
`
}
