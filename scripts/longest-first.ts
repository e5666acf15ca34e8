import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The first files of a run, longest first: one of them at the end would keep a single core busy. */
const longest: readonly string[] = [
  'proofs/overload/overload.test.ts',
  'proofs/torture/broken-servers.test.ts',
  'test/framing/framing.test.ts',
  'test/conformance/redis.test.ts',
  'test/conformance/postgresql.test.ts',
  'test/framing/memory.test.ts',
  'test/console/every-button.test.ts',
  'test/conformance/drivers.test.ts',
  'test/console/appearance.test.ts',
  'test/deploy/single-file.test.ts',
  'test/redis/cluster-replicas.test.ts',
]

/** Starts the longest files first, and keeps the files of a project together, because they share their processes. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = longest.findIndex((path) => moduleId.endsWith(path))
      return index < 0 ? longest.length : index
    }
    const project = ({ project: { name } }: TestSpecification): number => ['proofs', 'process', 'unit'].indexOf(name)
    return [...files].sort((one, other) => project(one) - project(other) || rank(one) - rank(other))
  }
}
