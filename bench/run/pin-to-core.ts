import { spawnSync } from 'node:child_process'

/**
 * Returns a command that runs on one core. `taskset` replaces itself with the program, so the process id stays the
 * same.
 */
export const pinToCore = (core: number, command: readonly string[]): readonly string[] => [
  'taskset',
  '-c',
  String(core),
  ...command,
]

/** Moves a running process with all its threads. */
export function moveToCore(core: number, pid: number): void {
  spawnSync('taskset', ['-a', '-cp', String(core), String(pid)])
}
