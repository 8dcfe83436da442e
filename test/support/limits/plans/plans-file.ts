import { WatchedFileOnDisk } from '../../watched-file-on-disk.js';

/** A file of plans for `PLANS_FILE`. */
export class PlansFileOnDisk extends WatchedFileOnDisk<'plans_file_read' | 'plans_file_unreadable'> {
  constructor() {
    super('plans_file_read');
  }
}
