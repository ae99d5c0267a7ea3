/**
 * What an instance can do to its own journal and output so that there is nothing to be read of them. That is its own affair: it is told once
 * in the log of its agent, what is in the way is left out, and everything else goes on.
 */
export const OBSTACLES = {
  'journal-gone': 'The journal of this instance is gone: what was not read of it before is lost.',
  'journal-closed': 'The journal of this instance cannot be read: its folder was closed or replaced.',
  'journal-crowded': 'The journal of this instance has too many files. Only some of them are read.',
  'journal-strange':
    'The journal of this instance has something in it that is no plain file, such as a folder, a link or a pipe. It is left out.',
  'journal-locked': 'The journal of this instance has a file that may not be read. It is left out.',
  'journal-long': 'The journal of this instance has a file that is too long. The end of it is left out.',
  'output-strange':
    'The output of this instance cannot be read: there is something else, such as a folder or a link, in the place of its file.',
  'output-locked': 'The output of this instance cannot be read: its file does not let us.',
  endless: 'This instance has left more than can be read. The rest of its log is left out.',
  unread: 'The rest of the log of this instance could not be read, and is left out.',
} as const
export type Obstacle = keyof typeof OBSTACLES
