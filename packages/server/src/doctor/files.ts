import type { Check } from './facts.ts'
import { finding } from './finding.ts'

const readable = 0o044
const writable = 0o022

/** Checks what other users of this machine may do with the files of the server. */
export const checkFiles: Check = ({ files }) =>
  files.flatMap(({ path, mode, kind }) => {
    if (mode === undefined) return []
    return [
      ...(kind === 'secret' && (mode & readable) !== 0
        ? [finding('file-readable', path, 'Other users of this machine can read it, and it contains a secret')]
        : []),
      ...((mode & writable) !== 0 ? [finding('file-writable', path, 'Other users of this machine can change it')] : []),
    ]
  })
