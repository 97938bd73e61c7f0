// The console's table: searched, sorted and paged here, so that a long answer draws one page only. Lists that the server pages
// hand in how to load what is older; a search then goes on through it.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import Pagination from "@cloudscape-design/components/pagination";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table, { type TableProps } from "@cloudscape-design/components/table";
import TextFilter, { type TextFilterProps } from "@cloudscape-design/components/text-filter";
import { useCollection } from "@cloudscape-design/collection-hooks";
import { type ReactNode, useEffect } from "react";

export interface Older {
  more: boolean;
  loading: boolean;
  // The last attempt failed: only the user tries again.
  failed: boolean;
  load: () => void;
}

const kPageRows = 50;
const kFewRows = 5;
// A search goes back through this many rows by itself; further on at the user's wish.
const kSearchedRows = 2_000;

// The leaves of a row, for the search.
function textOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === "boolean") return "";
  if (typeof value === "object") return Object.values(value).map(textOf).join(" ");
  return String(value);
}

const matches = (item: unknown, sought: string) => {
  const text = textOf(item).toLowerCase();
  return sought
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
};

function counterOf(shown: number, all: number, total: number, sought: boolean, more: boolean): string {
  const known = total > all ? total.toLocaleString() : `${all.toLocaleString()}${more ? "+" : ""}`;
  if (sought) return `(${shown.toLocaleString()} of ${known})`;
  return total > all ? `(${all.toLocaleString()} of ${known})` : `(${known})`;
}

// Wide enough for what it says, narrower only with its window.
export function SearchBox({
  name,
  placeholder = `Find in ${name}`,
  ...props
}: { name: string; placeholder?: string } & Pick<TextFilterProps, "filteringText" | "onChange" | "onDelayedChange">) {
  return (
    <div style={{ width: "min(320px, 80vw)" }}>
      <TextFilter
        {...props}
        filteringPlaceholder={placeholder}
        filteringAriaLabel={`Find in ${name}`}
        filteringClearAriaLabel="Clear"
      />
    </div>
  );
}

export function DataTable<T>({
  title,
  items,
  columns,
  loading,
  empty,
  emptyAction,
  actions,
  description,
  controls,
  older,
  total = 0,
  counter,
  page = false,
  wrap = false,
  compact = false,
  pageRows = kPageRows,
  sortBy,
  descending = false,
  rowId,
}: {
  title: string;
  items: readonly T[];
  columns: TableProps.ColumnDefinition<T>[];
  loading: boolean;
  empty: string;
  emptyAction?: ReactNode;
  actions?: ReactNode;
  description?: string;
  // More filters, beside the search.
  controls?: ReactNode;
  older?: Older;
  // How many there are, where the answer holds fewer.
  total?: number;
  // Instead of how many rows there are.
  counter?: string;
  // The page's own table, with the page's heading.
  page?: boolean;
  wrap?: boolean;
  compact?: boolean;
  pageRows?: number;
  sortBy?: string;
  descending?: boolean;
  rowId: (item: T) => string;
}) {
  const initial = columns.find((each) => each.sortingField === sortBy);
  const {
    items: shown,
    collectionProps,
    filterProps,
    paginationProps,
    filteredItemsCount = 0,
  } = useCollection(items, {
    filtering: {
      filteringFunction: matches,
      empty: (
        <Box textAlign="center" padding="m">
          <SpaceBetween size="s">
            <Box color="text-body-secondary">{empty}</Box>
            {emptyAction}
          </SpaceBetween>
        </Box>
      ),
      noMatch: (
        <Box textAlign="center" padding="m" color="text-body-secondary">
          {older?.loading ? "Looking further back" : "Nothing matches."}
        </Box>
      ),
    },
    pagination: { pageSize: pageRows },
    sorting: initial ? { defaultState: { sortingColumn: initial, isDescending: descending } } : {},
  });
  const name = title.toLowerCase();
  const sought = filterProps.filteringText !== "";
  const goesOn = sought && older?.more === true && !older.loading && !older.failed && items.length < kSearchedRows;
  useEffect(() => {
    if (goesOn) older?.load();
  }, [goesOn, older]);
  const paged = paginationProps.pagesCount > 1;
  const searchable = sought || items.length > kFewRows || older?.more === true;
  return (
    <Table
      {...collectionProps}
      items={shown}
      trackBy={rowId}
      columnDefinitions={columns}
      variant={page ? "full-page" : "container"}
      stickyHeader={page}
      wrapLines={wrap}
      contentDensity={compact ? "compact" : "comfortable"}
      stickyColumns={columns.some((each) => each.id === "actions") ? { last: 1 } : undefined}
      loading={loading}
      loadingText={`Loading ${name}`}
      ariaLabels={{ tableLabel: title }}
      header={
        <Header
          variant={page ? "h1" : "h2"}
          description={description}
          actions={actions}
          counter={
            loading
              ? undefined
              : !sought && counter
                ? counter
                : counterOf(filteredItemsCount, items.length, total, sought, older?.more ?? false)
          }
        >
          {title}
        </Header>
      }
      filter={
        searchable || controls ? (
          <SpaceBetween direction="horizontal" size="xs" alignItems="center">
            {searchable && <SearchBox {...filterProps} name={name} />}
            {controls}
          </SpaceBetween>
        ) : undefined
      }
      pagination={
        paged || older?.more ? (
          <SpaceBetween direction="horizontal" size="xs" alignItems="center">
            {paged && (
              <Pagination
                {...paginationProps}
                ariaLabels={{
                  nextPageLabel: "Next page",
                  previousPageLabel: "Previous page",
                  pageLabel: (index) => `Page ${index}`,
                  paginationLabel: `Pages of ${name}`,
                }}
              />
            )}
            {older?.more && (
              <Button loading={older.loading} onClick={older.load}>
                Load older
              </Button>
            )}
          </SpaceBetween>
        ) : undefined
      }
    />
  );
}
