import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const repository = 'https://github.com/grantry/grantry'

/**
 * What the file says about where it was built. The workflow of a forge names itself; another machine is no builder that
 * others know, so they can trust only what they build again.
 */
const builderOf = ({ GITHUB_ACTIONS, GITHUB_SERVER_URL, GITHUB_WORKFLOW_REF }) =>
  GITHUB_ACTIONS === 'true'
    ? `${GITHUB_SERVER_URL}/${GITHUB_WORKFLOW_REF}`
    : `${repository}/blob/main/SECURITY.md#checking-a-release`

/**
 * Returns from which commit, and with which programs, files were built, as an in-toto statement with the predicate of SLSA 1.0.
 * It has no time and no number of a run, so a second build on the same builder, with the same files, writes the same bytes. It has no
 * signature; the workflow of the forge signs an attestation of the same files.
 *
 * @param sums as `sha256sum` prints them
 * @param source from `sourceOf()`
 */
export function provenance(sums, source, environment = process.env) {
  const { commit, changed, lock, programs } = source
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: sums
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => ({ name: line.slice(66), digest: { sha256: line.slice(0, 64) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${repository}/blob/main/CONTRIBUTING.md#release`,
        externalParameters: { repository, command: 'npm ci && npm run build && npm run release' },
        internalParameters: programs,
        resolvedDependencies: [
          {
            uri: `git+${repository}`,
            digest: { gitCommit: commit },
            // Then the commit alone does not have these bytes.
            ...(changed && { annotations: { uncommittedChanges: true } }),
          },
          { name: 'package-lock.json', uri: `git+${repository}`, digest: { sha256: lock } },
        ],
      },
      runDetails: { builder: { id: builderOf(environment) } },
    },
  }
}

/** Returns what a build in a repository is built from, and with. */
export function sourceOf(root) {
  const run = (program, ...parameters) => execFileSync(program, parameters, { cwd: root, encoding: 'utf8' }).trim()
  return {
    commit: run('git', 'rev-parse', 'HEAD'),
    changed: run('git', 'status', '--porcelain') !== '',
    lock: createHash('sha256')
      .update(readFileSync(join(root, 'package-lock.json')))
      .digest('hex'),
    programs: { node: process.version, npm: run('npm', '--version'), platform: `${process.platform} ${process.arch}` },
  }
}
