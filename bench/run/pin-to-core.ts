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
