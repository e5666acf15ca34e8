import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The first files of a run, longest first: one of them at the end would keep a single core busy. Of each project those
 * that take several times as long as the others.
 */
const longest: readonly string[] = [
  'proofs/overload/overload.test.ts',
  'proofs/races/races.test.ts',
  'proofs/torture/failover.test.ts',
  'proofs/torture/broken-servers.test.ts',
  'test/framing/framing.test.ts',
  'test/administration/running-service.test.ts',
  'test/administration/changes-during-sign-in.test.ts',
  'test/relying-parties/relying-parties.test.ts',
  'test/framing/stalls.test.ts',
  'test/framing/memory.test.ts',
  'test/runtimes/slow-clients.test.ts',
  'test/conformance/redis.test.ts',
  'test/browser/pages.test.ts',
  'test/console/administration-attacks.test.ts',
  'test/browser/runtimes.test.ts',
  'test/console/administration.test.ts',
  'test/console/hostile-names.test.ts',
  'test/administration/rotated-at-processes.test.ts',
  'test/server/other-runtimes.test.ts',
  'test/declaration/killed.test.ts',
  'test/console/administration-session.test.ts',
  'test/browser/client-redirects.test.ts',
  'test/browser/tenants.test.ts',
  'test/console/dpop.test.ts',
  'test/console/administration-details.test.ts',
  'test/administration/commands.test.ts',
  'test/runtimes/tls-connections.test.ts',
  'test/console/every-button.test.ts',
  'test/console/administration-accessibility.test.ts',
  'test/console/administration-pages.test.ts',
  'test/bench/operations.test.ts',
  'test/conformance/ioredis-6.test.ts',
  'test/relying-parties/mcp.test.ts',
  'test/relying-parties/mcp-sign-in.test.ts',
  'test/server/init.test.ts',
  'test/conformance/drivers.test.ts',
  'test/docs/documents.test.ts',
  'test/server/commands.test.ts',
  'test/deploy/single-file.test.ts',
  'test/console/appearance.test.ts',
  'test/redis/cluster-replicas.test.ts',
  'test/testing-kit/broken-plugins.test.ts',
  'test/attacks/password-guessing.test.ts',
  'test/testing-kit/own-plugins.test.ts',
  'test/attacks/returned-permits.test.ts',
  'test/authorization/session-limit.test.ts',
  'test/testing-kit/odd-plugins.test.ts',
  'test/adapters/node-hostile-fuzz.test.ts',
  'test/attacks/passwords-guessed-at-once.test.ts',
  'test/resource-server/introspection.test.ts',
  'test/attacks/client-assertions.test.ts',
]

/** Starts the longest files first, and keeps the files of a project together, because they share their processes. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = longest.findIndex((path) => moduleId.endsWith(path))
      return index < 0 ? longest.length : index
    }
    const project = ({ project: { name } }: TestSpecification): number => ['proofs', 'process', 'unit'].indexOf(name)
    return [...files].sort((first, second) => project(first) - project(second) || rank(first) - rank(second))
  }
}
