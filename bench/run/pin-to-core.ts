import { spawnSync } from 'node:child_process'

const hasTaskset = spawnSync('taskset', ['-V']).status === 0

/**
 * Returns a command that runs on one core. `taskset` replaces itself with the program, so the process id stays the
 * same. Without `taskset`, the command runs on any core.
 */
export const pinToCore = (core: number, command: readonly string[]): readonly string[] =>
  hasTaskset ? ['taskset', '-c', String(core), ...command] : command

/** Moves a running process with all its threads. */
export function moveToCore(core: number, pid: number): void {
  if (hasTaskset) spawnSync('taskset', ['-a', '-cp', String(core), String(pid)])
}
